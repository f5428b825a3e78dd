// Two sides of the project compared, by what causes each difference.
import { el, fill, commandButton, shellWord, loading, plural } from './dom.js';
import { get, isReport } from './source.js';
import { current, go, address } from './state.js';

const MOST = 400;

function shownValue(value) {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 400 ? text.slice(0, 399) + '…' : text;
}

export async function showCompare(main, project) {
  const { parameters } = current();
  const names = project.environments.map((one) => one.name);
  const to = parameters.to || 'env:' + project.environment;
  const other = names.find((name) => 'env:' + name !== to);
  const from = parameters.from || (other === undefined ? '' : 'env:' + other);
  const label = (side) => side.startsWith('rev:') ? side.slice(4) : side.slice(4) || 'by itself';
  const select = (title, name, chosen) => el('label', { class: 'field' }, title, el('select', { onchange: (event) => go({ [name]: event.target.value }) },
    [...new Set([...names.map((one) => 'env:' + one), chosen])].filter(Boolean).map((one) => el('option', { value: one, selected: one === chosen }, label(one)))));
  const revision = el('input', { type: 'text', placeholder: 'HEAD~1, main, v1.2 …', 'aria-label': 'Git revision', value: from.startsWith('rev:') ? from.slice(4) : '' });
  const form = el('form', { class: 'row', onsubmit: (event) => { event.preventDefault(); if (revision.value.trim()) go({ from: 'rev:' + revision.value.trim(), to: 'env:' + project.environment }); } },
    el('label', { class: 'field' }, 'or with a git revision', revision), el('button', { type: 'submit' }, 'Compare'));
  const result = el('div', { class: 'result' }, loading('differences'));
  fill(main, el('div', { class: 'page' }, el('h1', {}, 'Compare'),
    el('div', { class: 'row' }, select('From', 'from', from), select('To', 'to', to), isReport() ? null : form), result));
  if (!from) return fill(result, el('p', { class: 'quiet' }, 'This project has one ' + (project.noun || 'variant') + ' only. Compare it with a git revision.'));
  let found;
  try {
    found = await get('compare', { from, to, env: to.startsWith('env:') ? to.slice(4) : project.environment });
  } catch (error) {
    return fill(result, el('p', { class: 'wrong' }, error.message));
  }
  const groups = new Map();
  found.differences.forEach((difference, at) => {
    const cause = found.causes[at] || 'computed';
    (groups.get(cause) || groups.set(cause, []).get(cause)).push(difference);
  });
  const command = from.startsWith('rev:') ? 'purlin diff ' + shellWord(project.path) + ' --rev ' + shellWord(from.slice(4))
    : 'purlin diff ' + shellWord(project.path) + ' ' + project.option + ' ' + shellWord(label(from)) + (project.option === '-e' ? ' --to-env ' : project.option === '-p' ? ' --to-profile ' : ' --to-values ') + shellWord(label(to));
  const env = to.startsWith('env:') ? to.slice(4) : project.environment;
  let left = MOST;
  fill(result, el('p', {}, found.differences.length ? plural(found.differences.length, 'difference') + ' with ' + plural(groups.size, 'cause') : 'Nothing differs.'),
    [...groups].map(([cause, list]) => {
      const shown = list.slice(0, Math.max(0, left));
      left -= shown.length;
      return el('section', { class: 'cause' }, el('h2', {}, el('code', {}, cause), el('span', { class: 'quiet' }, ' ' + plural(list.length, 'place'))),
        el('ul', { class: 'plain' }, shown.map((difference) => el('li', { class: 'difference' },
          el('a', { href: address('graph', { env, node: difference.node, field: difference.field || undefined }) }, difference.node + (difference.field ? ' ' + difference.field : '')),
          difference.renamedFrom ? el('div', { class: 'before' }, difference.renamedFrom) : null,
          difference.field || difference.node === 'variables' ? [
            difference.before !== null ? el('div', { class: 'before' }, shownValue(difference.before)) : null,
            difference.after !== null ? el('div', { class: 'after' }, shownValue(difference.after)) : null,
          ] : el('div', { class: difference.after === null ? 'before' : 'after' }, 'the whole node'))),
        list.length > shown.length ? el('li', { class: 'quiet' }, plural(list.length - shown.length, 'more place')) : null));
    }), commandButton(command),
    el('p', {}, el('a', { href: address('graph', { env, compare: from }) }, 'Show the differences in the graph')));
}
