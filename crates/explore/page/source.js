// Where answers come from: the server, or the chunks of a report. Answers are kept until the project changes.
import { el } from './dom.js';

const kept = new Map();
const chunks = new Map();
const waiting = new Map();

export function isReport() {
  return !document.querySelector('script[type=module]');
}

// A chunk of a report has arrived.
globalThis.purlinData = (name, value) => {
  chunks.set(name, value);
  waiting.get(name)?.();
};

function chunk(name) {
  if (chunks.has(name)) return Promise.resolve(chunks.get(name));
  const held = document.querySelector('script[data-chunk="' + CSS.escape(name) + '"]');
  if (held) {
    chunks.set(name, JSON.parse(held.textContent));
    return Promise.resolve(chunks.get(name));
  }
  return new Promise((resolve, reject) => {
    waiting.set(name, () => resolve(chunks.get(name)));
    document.head.append(el('script', { src: 'data/' + name + '.js', onerror: () => reject(new Error('missing: ' + name)) }));
  });
}

// Answers of a report, by the same names and parameters as those of the server.
async function held(kind, parameters) {
  const index = await chunk('index');
  const name = parameters.env || index.chosen;
  const at = Math.max(0, index.environments.indexOf(name));
  const nothing = (why) => Promise.reject(new Error(why));
  if (kind === 'project') return chunk('project-' + at);
  if (kind === 'problems') return chunk('problems');
  if (kind === 'compare') {
    const to = index.environments.indexOf((parameters.to || '').replace(/^env:/, ''));
    const all = await chunk('compared-' + Math.max(0, to));
    return all[parameters.from] || nothing('This report does not compare these two; `purlin explore` does.');
  }
  if (kind === 'file') {
    const file = (await chunk('files'))[parameters.path];
    return file || nothing('This file is not in the report.');
  }
  if (kind === 'node' || kind === 'why') {
    const number = index.nodes[parameters.id];
    if (!Object.hasOwn(index.nodes, parameters.id)) return nothing('Unknown node.');
    const found = (await chunk('nodes-' + number))[parameters.id];
    if (!found) return nothing('This node is not in the report.');
    if (kind === 'node') return found.node;
    const why = found.why[name]?.[parameters.field] || found.why[index.chosen]?.[parameters.field];
    return why || nothing('This value is not in the report.');
  }
  if (kind === 'picture') {
    const all = await chunk('pictures-' + at);
    const group = parameters.group || '';
    const open = parameters.open === undefined ? group + '|' : group + '|=' + [parameters.open].flat().filter(Boolean).sort().join('\n');
    return all[open] || all[group + '|'] || all['|'] || nothing('This picture is not in the report.');
  }
  return nothing('A report has no answer to this; `purlin explore` does.');
}

export function query(parameters) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null) words.append(name, one);
    if (Array.isArray(value) && value.length === 0) words.append(name, '');
  }
  return words.toString();
}

async function fetched(kind, parameters) {
  const answer = await fetch('/data/' + kind + '?' + query(parameters));
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

export function get(kind, parameters = {}) {
  const key = kind + '?' + query(parameters);
  if (!kept.has(key)) {
    const answer = isReport() ? held(kind, parameters) : fetched(kind, parameters);
    kept.set(key, answer);
    answer.catch(() => kept.delete(key));
  }
  return kept.get(key);
}

// Calls back whenever the project has changed.
export async function watch(version, changed) {
  if (isReport()) return;
  for (;;) {
    try {
      const answer = await (await fetch('/data/changes?since=' + version)).json();
      if (answer.version > version) {
        version = answer.version;
        kept.clear();
        changed();
      }
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1500));
    }
  }
}
