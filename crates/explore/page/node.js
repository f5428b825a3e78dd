// One node: its values with their chains, beside the files they come from, in all environments, and what it is tied to.
import { el, fill, commandButton, shellWord, loading, plural } from './dom.js';
import { get } from './source.js';
import { current, go, link } from './state.js';
import { chain } from './why.js';
import { askPath, environmentOf } from './graph.js';

const TABS = [['values', 'Values'], ['source', 'Source'], ['environments', 'Environments'], ['edges', 'Edges']];
const MOST_ROWS = 1500;

export function valueText(value, kind) {
  if (kind === 'secret') return String(value);
  if (kind === 'pending') return 'not known yet';
  if (value === null) return 'null';
  if (typeof value === 'string') return value === '' ? '""' : value;
  return JSON.stringify(value);
}

export async function showNode(main, project) {
  const { parameters } = current();
  const panel = main.querySelector('.panel');
  if (!parameters.node) {
    panel.hidden = true;
    main.classList.remove('has-panel', 'is-wide');
    return;
  }
  panel.hidden = false;
  main.classList.add('has-panel');
  main.classList.toggle('is-wide', parameters.wide === '1');
  const tab = parameters.tab || 'values';
  const id = parameters.node;
  const isAgain = panel.dataset.node === id + tab;
  const scrolled = isAgain ? panel.querySelector('.body')?.scrollTop : 0;
  if (panel.dataset.node?.startsWith(id) !== true) fill(panel, loading(id));
  let node;
  try {
    node = await get('node', { id });
  } catch (error) {
    fill(panel, closeButton(), el('h2', {}, id), el('p', { class: 'wrong' }, error.message));
    return;
  }
  if (current().parameters.node !== id) return;
  panel.dataset.node = id + tab;
  const body = el('div', { class: 'body', tabindex: '0', role: 'tabpanel', 'aria-label': tab });
  const known = project.nodes.find((one) => one.id === id);
  fill(panel, el('div', { class: 'head' },
    el('div', { class: 'row' }, el('h2', {}, id), el('span', { class: 'grow' }),
      el('button', { type: 'button', class: 'for-wide', title: 'Wider or narrower', 'aria-label': 'Wider or narrower', onclick: () => go({ wide: parameters.wide === '1' ? undefined : '1' }) }, '⇔'), closeButton()),
    el('p', { class: 'quiet' }, [node.dialect, node.kind, node.type].filter(Boolean).join(' · '), ' ',
      node.file ? el('button', { type: 'button', class: 'place', onclick: () => openFile(node.file, node.line) }, node.file + ':' + node.line) : null,
      known?.broken ? el('span', { class: 'wrong' }, ' ✗ has an error') : null),
    el('div', { class: 'row actions' },
      el('button', { type: 'button', onclick: () => go({ focus: 'dependencies', path: undefined }) }, 'Dependencies'),
      el('button', { type: 'button', onclick: () => go({ focus: 'dependents', path: undefined }) }, 'Dependents'),
      el('button', { type: 'button', onclick: () => askPath(id, main, project) }, 'Path to …'),
      parameters.focus || parameters.path ? el('button', { type: 'button', onclick: () => go({ focus: undefined, path: undefined }) }, 'Show all') : null),
    tabs(tab)), body);
  const environment = environmentName(node, project);
  const shown = node.environments[environment];
  if (!shown && tab !== 'edges' && tab !== 'environments') {
    fill(body, el('p', { class: 'quiet' }, 'This node is not in ' + (environment || 'this variant') + '. It is in: ' + Object.keys(node.environments).join(', ')));
  } else if (tab === 'source') await source(body, node, shown, project);
  else if (tab === 'environments') environments(body, node, project);
  else if (tab === 'edges') edges(body, id, project);
  else values(body, node, shown, project);
  if (scrolled) body.scrollTop = scrolled;
}

function closeButton() {
  return el('button', { type: 'button', class: 'close', title: 'Close', 'aria-label': 'Close', onclick: () => go({ node: undefined, field: undefined, path: undefined, focus: undefined, wide: undefined, tab: undefined }) }, '✕');
}

function environmentName(node, project) {
  return project.environment;
}

function openFile(file, line) {
  go({ tab: 'source', file, line: String(line), wide: '1' });
}

function tabs(chosen) {
  const list = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Views of the node' }, TABS.map(([name, label]) => el('a', {
    href: link({ tab: name === 'values' ? undefined : name }), role: 'tab', 'aria-selected': String(name === chosen), tabindex: name === chosen ? '0' : '-1',
  }, label)));
  list.addEventListener('keydown', (event) => {
    const all = [...list.querySelectorAll('a')];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) { event.preventDefault(); all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus(); }
  });
  return list;
}

// The value as a tree; a leaf opens its chain.
function values(body, node, shown, project) {
  const { parameters } = current();
  const filter = el('input', { type: 'search', placeholder: 'Filter values', 'aria-label': 'Filter values', value: values.text || '', oninput: () => { values.text = filter.value; show(); } });
  const list = el('div', { class: 'rows' });
  const show = () => {
    const wanted = filter.value.trim().toLowerCase();
    const hits = shown.rows.filter(([, , path, kind, value]) => !wanted || (kind !== 'map' && kind !== 'list' && (path + ' ' + valueText(value, kind)).toLowerCase().includes(wanted)));
    fill(list, hits.slice(0, MOST_ROWS).map((row) => valueRow(row, node, project, parameters.field, wanted !== '')));
    if (hits.length > MOST_ROWS) list.append(el('p', { class: 'quiet' }, plural(hits.length - MOST_ROWS, 'more value') + '; filter them'));
  };
  fill(body, filter, list);
  show();
  const open = list.querySelector('.is-open');
  if (open && !values.scrolled) open.scrollIntoView({ block: 'center' });
  values.scrolled = false;
}

function valueRow(row, node, project, field, isFlat) {
  const [depth, key, path, kind, value] = row;
  const name = isFlat ? path : key;
  if (kind === 'map' || kind === 'list') {
    const head = el('div', { class: 'row-head' }, name + (kind === 'list' ? ' []' : ''));
    head.style.setProperty('--depth', isFlat ? 0 : depth);
    return head;
  }
  const isOpen = path === field;
  const values_ = el('div', { class: 'value-row' + (isOpen ? ' is-open' : '') });
  values_.style.setProperty('--depth', isFlat ? 0 : depth);
  const button = el('button', {
    type: 'button', class: 'value', 'aria-expanded': String(isOpen), 'data-path': path,
    onclick: () => { values.scrolled = true; go({ field: isOpen ? undefined : path }); },
  }, el('span', { class: 'key' }, name), el('span', { class: 'text is-' + kind }, valueText(value, kind)));
  values_.append(button);
  if (isOpen) {
    const holder = el('div', { class: 'detail' }, loading('its chain'));
    values_.append(holder);
    get('why', { id: node.id, field: path, env: project.environment }).then((why) => {
      fill(holder, chain(why, openFile), elsewhere(node, path, project),
        commandButton('purlin why' + (project.path === '.' ? '' : ' --path ' + shellWord(project.path)) + ' ' + shellWord(node.id) + ' ' + shellWord(path) + environmentOf(project)));
    }).catch((error) => fill(holder, el('p', { class: 'wrong' }, error.message)));
  }
  return values_;
}

// The value in all environments.
function elsewhere(node, path, project) {
  const all = Object.entries(node.environments);
  if (all.length < 2) return null;
  return el('table', { class: 'elsewhere' }, el('caption', {}, 'In all ' + project.noun + 's'), el('tbody', {}, all.map(([name, side]) => {
    const row = side.rows.find((one) => one[2] === path);
    return el('tr', { class: name === project.environment ? 'is-here' : '' }, el('th', { scope: 'row' }, name || 'by itself'),
      el('td', {}, row ? valueText(row[4], row[3]) : el('span', { class: 'quiet' }, 'not there')));
  })));
}

// Rows of the value beside the files that they come from; each shows what it has to do with the other.
async function source(body, node, shown, project) {
  const { parameters } = current();
  const counts = new Map();
  shown.rows.forEach((row) => row[5].forEach(([file]) => counts.set(file, (counts.get(file) || 0) + 1)));
  const names = [...counts].sort((a, b) => b[1] - a[1]).map(([file]) => node.files[file]);
  if (node.file && !names.includes(node.file)) names.push(node.file);
  if (parameters.file && !names.includes(parameters.file)) names.unshift(parameters.file);
  const chosen = parameters.file || names[0];
  if (!chosen) return fill(body, el('p', { class: 'quiet' }, 'Nothing of this node comes from a file.'));
  const at = node.files.indexOf(chosen);
  const rowsOf = new Map();
  shown.rows.forEach((row, number) => row[5].forEach(([file, line, role]) => {
    if (file === at) (rowsOf.get(line) || rowsOf.set(line, []).get(line)).push([number, role]);
  }));
  const left = el('div', { class: 'code', role: 'group', 'aria-label': 'Values' });
  const right = el('div', { class: 'code', role: 'group', 'aria-label': chosen });
  const picker = el('select', { 'aria-label': 'File', onchange: (event) => go({ file: event.target.value, line: undefined }) },
    names.map((name) => el('option', { value: name, selected: name === chosen }, name)));
  fill(body, el('div', { class: 'row' }, picker, el('span', { class: 'quiet' }, 'Choose a value or a line to see what belongs to it')),
    el('div', { class: 'beside' }, left, right));
  const rowNodes = shown.rows.map(([depth, key, path, kind, value, places]) => {
    const isOpen = kind === 'map' || kind === 'list';
    const isHere = places.some(([file]) => file === at);
    const line = el(isOpen ? 'div' : 'button', { type: isOpen ? undefined : 'button', class: 'code-line' + (isHere ? ' is-here' : ''), title: path },
      el('span', { class: 'key' }, /^\d+$/.test(key) ? '-' : key + ':'), isOpen ? null : el('span', { class: 'text is-' + kind }, ' ' + valueText(value, kind)));
    line.style.setProperty('--depth', depth);
    if (!isOpen) {
      line.addEventListener('click', () => {
        if (!isHere && places.length) {
          source.keep = path;
          return go({ file: node.files[places[0][0]], line: undefined });
        }
        light(path);
      });
    }
    return line;
  });
  fill(left, rowNodes);
  let lineNodes = [];
  const clear = () => [...rowNodes, ...lineNodes].forEach((one) => one.classList.remove('is-lit', 'is-role-0', 'is-role-1', 'is-role-2', 'is-role-3'));
  const light = (path) => {
    clear();
    const number = shown.rows.findIndex((row) => row[2] === path);
    if (number < 0) return;
    rowNodes[number].classList.add('is-lit');
    shown.rows[number][5].filter(([file]) => file === at).forEach(([, line, role], first) => {
      lineNodes[line - 1]?.classList.add('is-lit', 'is-role-' + role);
      if (first === 0) lineNodes[line - 1]?.scrollIntoView({ block: 'nearest' });
    });
  };
  const lightLine = (line) => {
    clear();
    lineNodes[line - 1]?.classList.add('is-lit');
    (rowsOf.get(line) || []).forEach(([number, role], first) => {
      rowNodes[number].classList.add('is-lit', 'is-role-' + role);
      if (first === 0) rowNodes[number].scrollIntoView({ block: 'nearest' });
    });
  };
  try {
    const file = await get('file', { path: chosen });
    lineNodes = file.lines.map((text, number) => el('button', {
      type: 'button', class: 'code-line' + (rowsOf.has(number + 1) ? ' is-here' : ''), onclick: () => lightLine(number + 1),
    }, el('span', { class: 'number' }, number + 1), el('span', { class: 'text' }, text || ' ')));
    fill(right, lineNodes);
    if (source.keep) { const path = source.keep; source.keep = null; light(path); }
    else if (parameters.line) { lightLine(Number(parameters.line)); lineNodes[Number(parameters.line) - 1]?.scrollIntoView({ block: 'center' }); }
    else if (parameters.field) light(parameters.field);
  } catch (error) {
    fill(right, el('p', { class: 'quiet' }, error.message));
  }
}

// Values by environments.
function environments(body, node, project) {
  const names = Object.keys(node.environments);
  const isAll = current().parameters.all === '1';
  const known = new Map();
  names.forEach((name, column) => node.environments[name].rows.forEach(([, , path, kind, value]) => {
    if (kind === 'map' || kind === 'list') return;
    if (!known.has(path)) known.set(path, new Array(names.length).fill(undefined));
    known.get(path)[column] = valueText(value, kind);
  }));
  const rows = [...known].filter(([, cells]) => isAll || new Set(cells).size > 1);
  const box = el('input', { type: 'checkbox', checked: !isAll, onchange: () => go({ all: isAll ? undefined : '1' }) });
  fill(body, el('label', { class: 'row' }, box, 'Only what differs'),
    names.length < 2 ? el('p', { class: 'quiet' }, 'This project has one ' + (project.noun || 'variant') + '.') : null,
    rows.length ? el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Values by ' + project.noun }, el('table', { class: 'matrix' }, el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Value'), names.map((name) => el('th', { scope: 'col' }, name || 'by itself')))),
      el('tbody', {}, rows.map(([path, cells]) => el('tr', {}, el('th', { scope: 'row' }, path), cells.map((cell, at) => el('td', {},
        cell === undefined ? el('span', { class: 'quiet' }, '–') : el('a', { href: link({ env: names[at], field: path, tab: undefined }) }, cell)))))))) : el('p', { class: 'quiet' }, 'All values are the same.'));
}

// What it depends on, and what depends on it.
function edges(body, id, project) {
  const at = project.nodes.findIndex((one) => one.id === id);
  const list = (title, own) => el('section', {}, el('h3', {}, title + ' (' + own.length + ')'), own.length ? el('ul', { class: 'plain' }, own.map(([other, edge]) => el('li', {},
    el('a', { href: link({ node: project.nodes[other].id, tab: undefined, field: undefined }) }, project.nodes[other].id),
    el('span', { class: 'quiet' }, edge[2] ? ' once it has run' : '', edge[4] ? ' by ' + edge[4] : ''),
    edge[3].length ? el('span', { class: 'flow' }, edge[3].join(', ')) : null))) : el('p', { class: 'quiet' }, 'none'));
  fill(body, list('Depends on', project.edges.filter(([from]) => from === at).map((edge) => [edge[1], edge])),
    list('Needed by', project.edges.filter(([, to]) => to === at).map((edge) => [edge[0], edge])),
    commandButton('purlin graph ' + shellWord(project.path) + environmentOf(project) + ' --focus ' + shellWord(id)));
}
