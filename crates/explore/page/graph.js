// The graph: the picture, and what is beside it: search, filters, paths.
import { el, fill, tell, commandButton, shellWord } from './dom.js';
import { get, isReport } from './source.js';
import { current, go } from './state.js';
import { Canvas } from './canvas.js';

const MOST_LISTED = 200;
let canvas = null;
let shown = '';
let picture = null;

// What the picture is asked for with.
function wish(parameters) {
  const names = ['env', 'group', 'direction', 'compare', 'only', 'depth', 'kind', 'dialect'];
  const asked = {};
  for (const name of names) if (parameters[name]) asked[name === 'only' ? 'focus' : name] = parameters[name];
  if (parameters.open) asked.open = parameters.open;
  // A narrow window is higher than wide.
  if (!asked.direction && !isReport() && innerWidth < 700) asked.direction = 'down';
  return asked;
}

// The boxes around a node in the picture as a whole, from the outermost.
function around(id, parameters, project) {
  const ids = new Set(project.nodes.map((node) => node.id));
  const chain = [];
  for (let at = id.lastIndexOf('/'); at > 0; at = id.lastIndexOf('/', at - 1)) {
    if (ids.has(id.slice(0, at))) chain.unshift(id.slice(0, at));
  }
  const outer = project.nodes.find((node) => node.id === (chain[0] || id));
  const group = parameters.group || picture?.group || 'none';
  if (!outer || group === 'none') return chain;
  const known = picture ? picture.shapes.filter((shape) => shape.group).map((shape) => shape.id) : [];
  if (group === 'folder') {
    const folder = outer.folder || '.';
    const folders = [...new Set([...known, 'folder:' + folder])].map((one) => one.slice(7));
    return [...folders.filter((one) => folder === one || folder.startsWith(one + '/')).sort().map((one) => 'folder:' + one), ...chain];
  }
  return [group + ':' + (group === 'kind' ? outer.kind : outer.dialect), ...chain];
}

export async function showGraph(main, project) {
  const { parameters } = current();
  let page = main.querySelector('.graph');
  if (!page) {
    canvas = new Canvas(project.hues);
    shown = '';
    canvas.node.setAttribute('role', 'application');
    canvas.node.setAttribute('aria-label', 'Graph. Arrow keys move between boxes, Enter opens one, O shows what is in it, plus and minus zoom.');
    canvas.node.addEventListener('keydown', (event) => onKey(event, project));
    canvas.onpick = (shape) => pick(shape);
    canvas.onopen = (shape) => toggle(shape);
    page = el('div', { class: 'graph' }, el('h1', { class: 'hidden' }, 'Graph'), el('aside', { class: 'side', 'aria-label': 'Search and filters' }),
      el('div', { class: 'drawing' }, canvas.node, el('div', { class: 'tools' }), el('div', { class: 'legend' })));
    fill(main, page, el('section', { class: 'panel', hidden: true, 'aria-label': 'Node' }));
    tools(page.querySelector('.tools'));
  }
  canvas.hues = project.hues;
  const asked = JSON.stringify([wish(parameters), project.version]);
  const { env, compare, ...shape } = wish(parameters);
  const isOther = JSON.stringify(shape) !== showGraph.shape;
  showGraph.shape = JSON.stringify(shape);
  if (asked !== shown) {
    const isFirst = shown === '' || !picture || isOther;
    const anchor = showGraph.anchor;
    showGraph.anchor = null;
    picture = await get('picture', wish(parameters));
    shown = asked;
    canvas.show(picture, anchor);
    // A change of files or of the environment leaves the picture where it is.
    if (isFirst && !anchor) canvas.fit();
    legend(page.querySelector('.legend'), project);
  }
  await mark(project);
  side(page.querySelector('.side'), project);
}

// Opens what is around the node in the address, if it is not seen, and marks it with its lines.
async function mark(project) {
  const { parameters } = current();
  const { node, path } = parameters;
  if (!node) return canvas.mark(null);
  let shape = picture.shapes.find((one) => one.id === node);
  if (!shape && project.nodes.some((one) => one.id === node)) {
    const open = isReport() ? around(node, parameters, project) : [...new Set([...opened(), ...around(node, parameters, project)])];
    const again = await get('picture', wish({ ...parameters, open })).catch(() => picture);
    if (again.shapes.some((one) => one.id === node)) {
      picture = again;
      canvas.show(picture);
      shape = picture.shapes.find((one) => one.id === node);
      canvas.center(node);
    }
  }
  if (path) return markPath(project, node, path);
  if (!shape) return canvas.mark(null);
  const at = picture.shapes.indexOf(shape);
  const links = new Set();
  picture.links.forEach((link, number) => { if (link.from === at || link.to === at) links.add(number); });
  if (!parameters.focus) canvas.mark(node, links);
  else {
    const reached = reach(at, parameters.focus);
    const own = [...picture.links.keys()].filter((link) => reached.has(picture.links[link].from) && reached.has(picture.links[link].to));
    canvas.mark(node, new Set(own), ids(reached));
  }
  if (!canvas.isVisible(node)) canvas.center(node);
}

// The boxes that a box leads to, or that lead to it.
function reach(start, way) {
  const found = new Set([start]);
  const follow = (from, to) => {
    const open = [start];
    const seen = new Set([start]);
    while (open.length) {
      const at = open.pop();
      for (const link of picture.links) {
        if (link[from] === at && !seen.has(link[to])) {
          seen.add(link[to]);
          open.push(link[to]);
          found.add(link[to]);
        }
      }
    }
  };
  if (way !== 'dependents') follow('from', 'to');
  if (way !== 'dependencies') follow('to', 'from');
  return found;
}

// The ids of boxes, of those around them, and of those in them.
function ids(found) {
  const names = new Set();
  picture.shapes.forEach((shape, at) => {
    for (let up = at; up !== undefined; up = picture.shapes[up].parent) if (found.has(up)) names.add(shape.id);
  });
  for (const at of found) {
    for (let up = at; up !== undefined; up = picture.shapes[up].parent) names.add(picture.shapes[up].id);
  }
  return names;
}

// The shortest way from one node to another, over all nodes of the project.
export function wayBetween(project, from, to) {
  const places = new Map(project.nodes.map((node, at) => [node.id, at]));
  const next = new Map();
  for (const [a, b] of project.edges) (next.get(a) || next.set(a, []).get(a)).push(b);
  const [start, end] = [places.get(from), places.get(to)];
  if (start === undefined || end === undefined) return null;
  const before = new Map([[start, null]]);
  const open = [start];
  for (let at = 0; at < open.length && !before.has(end); at++) {
    for (const other of next.get(open[at]) || []) {
      if (!before.has(other)) { before.set(other, open[at]); open.push(other); }
    }
  }
  if (!before.has(end)) return null;
  const way = [];
  for (let at = end; at !== null; at = before.get(at)) way.unshift(project.nodes[at].id);
  return way;
}

function markPath(project, from, to) {
  const way = wayBetween(project, from, to) || wayBetween(project, to, from);
  if (!way) {
    tell('No way leads from ' + from + ' to ' + to);
    return canvas.mark(from);
  }
  // A node that is not seen is in the box whose id begins its own, or in a closed group.
  const seen = (id) => picture.shapes.findIndex((shape) => shape.id === id || (!shape.open && id.startsWith(shape.id + '/')));
  const places = way.map(seen).filter((at) => at >= 0);
  const links = new Set();
  for (let step = 1; step < places.length; step++) {
    picture.links.forEach((link, at) => { if (link.from === places[step - 1] && link.to === places[step]) links.add(at); });
  }
  canvas.mark(from, links, ids(new Set(places)));
  tell(way.join(' → '));
}

function opened() {
  return picture.shapes.filter((shape) => shape.open).map((shape) => shape.id);
}

function pick(shape) {
  if (!shape) return go({ node: undefined, field: undefined, path: undefined, focus: undefined });
  if (shape.group) return toggle(shape);
  go({ node: shape.id, field: undefined, path: undefined }, 'graph');
}

// Opens a box, or closes it with everything in it. A report has pictures with one box opened at a time.
export function toggle(shape) {
  showGraph.anchor = shape.id;
  const parents = [];
  for (let at = shape.parent; at !== undefined; at = picture.shapes[at].parent) parents.push(picture.shapes[at].id);
  let open;
  if (shape.open) {
    const inside = (one) => { for (let at = one.parent; at !== undefined; at = picture.shapes[at].parent) if (picture.shapes[at].id === shape.id) return true; return false; };
    open = picture.shapes.filter((one) => one.open && one.id !== shape.id && !inside(one)).map((one) => one.id);
    if (isReport()) open = parents;
  } else open = isReport() ? [...parents, shape.id] : [...opened(), shape.id];
  go({ open }, 'graph');
}

function onKey(event, project) {
  const { parameters } = current();
  const shapes = picture.shapes;
  const here = shapes.find((shape) => shape.id === (onKey.at || parameters.node)) || null;
  const keys = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  if (keys[event.key]) {
    event.preventDefault();
    if (event.shiftKey) {
      canvas.view.x -= keys[event.key][0] * 80;
      canvas.view.y -= keys[event.key][1] * 80;
      return canvas.move();
    }
    const next = here ? nearest(here, keys[event.key]) : shapes[0];
    if (!next) return;
    onKey.at = next.id;
    canvas.mark(next.id, new Set(picture.links.flatMap((link, at) => (shapes[link.from] === next || shapes[link.to] === next ? [at] : []))));
    if (!canvas.isVisible(next.id)) canvas.center(next.id);
    tell(next.label + ', ' + next.subtitle);
  } else if (event.key === 'Enter' && here) {
    event.preventDefault();
    pick(here);
  } else if ((event.key === 'o' || event.key === ' ') && here?.contents) {
    event.preventDefault();
    toggle(here);
  } else if (event.key === '+' || event.key === '=') canvas.zoom(1.25);
  else if (event.key === '-') canvas.zoom(0.8);
  else if (event.key === '0') canvas.fit();
  else if (event.key === 'Escape') go({ node: undefined, field: undefined, path: undefined, focus: undefined });
}

// The next box in a direction: near, and rather straight ahead.
function nearest(from, [dx, dy]) {
  const middle = ([x, y, wide, high]) => [x + wide / 2, y + Math.min(high, 42) / 2];
  const [x, y] = middle(from.place);
  let best = null;
  let least = Infinity;
  for (const shape of picture.shapes) {
    if (shape === from) continue;
    const [a, b] = middle(shape.place);
    const along = (a - x) * dx + (b - y) * dy;
    const aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
    if (along > 1 && along + 2 * aside < least) [best, least] = [shape, along + 2 * aside];
  }
  return best;
}

function tools(node) {
  const button = (label, text, action) => el('button', { type: 'button', title: label, 'aria-label': label, onclick: action }, text);
  fill(node, button('Zoom in', '+', () => canvas.zoom(1.25)), button('Zoom out', '−', () => canvas.zoom(0.8)),
    button('Show everything', '⤢', () => canvas.fit()));
}

function legend(node, project) {
  const used = new Set(project.nodes.map((one) => one.dialect));
  const swatch = (hue) => {
    const box = el('span', { class: 'swatch', 'aria-hidden': 'true' });
    box.style.setProperty('--light', hue.light[2]);
    box.style.setProperty('--light-rim', hue.light[0]);
    box.style.setProperty('--dark', hue.dark[2]);
    box.style.setProperty('--dark-rim', hue.dark[0]);
    return el('span', { class: 'entry' }, box, hue.dialect);
  };
  fill(node, project.hues.filter((hue) => used.has(hue.dialect)).map(swatch),
    el('span', { class: 'entry' }, el('span', { class: 'sample', 'aria-hidden': 'true' }), 'depends on'),
    el('span', { class: 'entry' }, el('span', { class: 'sample is-run', 'aria-hidden': 'true' }), 'once it has run'));
}

// Search, how the picture is put together, and the list of nodes.
function side(node, project) {
  const { parameters } = current();
  const held = node.querySelector('input');
  const text = held ? held.value : '';
  const option = (value, label, chosen) => el('option', { value, selected: value === chosen }, label);
  const select = (label, name, options, chosen) => el('label', { class: 'field' }, label,
    el('select', { onchange: (event) => { go({ [name]: event.target.value || undefined, open: undefined, only: undefined }); } },
      options.map(([value, words]) => option(value, words, chosen))));
  const values = (name) => [...new Set(project.nodes.map((one) => one[name]))].sort().map((one) => [one, one]);
  const search = el('input', { type: 'search', id: 'search', placeholder: 'Search nodes  ( / )', 'aria-label': 'Search nodes', value: text, autocomplete: 'off' });
  const list = el('ul', { class: 'nodes', 'aria-label': 'Nodes' });
  const controls = el('details', { class: 'controls', open: side.isOpen }, el('summary', {}, 'View and filters'),
    select('Put together by', 'group', [['', 'what suits the size'], ['folder', 'folder'], ['dialect', 'dialect'], ['kind', 'kind'], ['none', 'nothing']], parameters.group || ''),
    isReport() ? null : select('Arrows lead', 'direction', [['', 'right'], ['down', 'down'], ['left', 'left'], ['up', 'up']], parameters.direction || ''),
    isReport() ? null : select('Kind', 'kind', [['', 'all kinds'], ...values('kind')], parameters.kind || ''),
    isReport() ? null : select('Dialect', 'dialect', [['', 'all dialects'], ...values('dialect')], parameters.dialect || ''),
    el('div', { class: 'row' },
      el('button', { type: 'button', onclick: () => { go({ open: ['*'] }); } }, 'Open all'),
      el('button', { type: 'button', onclick: () => { go({ open: [] }); } }, 'Close all')));
  controls.addEventListener('toggle', () => { side.isOpen = controls.open; });
  const show = () => {
    const wanted = search.value.trim().toLowerCase();
    const hits = project.nodes.filter((one) => (one.id + ' ' + one.kind + ' ' + one.type + ' ' + (one.folder || '')).toLowerCase().includes(wanted)
      && (!parameters.kind || one.kind === parameters.kind) && (!parameters.dialect || one.dialect === parameters.dialect));
    fill(list, hits.slice(0, MOST_LISTED).map((one) => el('li', {},
      el('button', { type: 'button', class: one.id === parameters.node ? 'is-chosen' : '', onclick: () => choose(one.id) },
        el('span', { class: 'name' }, one.id), el('span', { class: 'what' }, one.broken ? '✗ ' : '', one.kind, one.type ? ' · ' + one.type : '')))));
    if (hits.length > MOST_LISTED) list.append(el('li', { class: 'quiet' }, hits.length - MOST_LISTED + ' more; search for a part of a name'));
    if (!hits.length) list.append(el('li', { class: 'quiet' }, 'No node of that name'));
  };
  const choose = (id) => go(side.pathFrom ? { node: side.pathFrom, path: id } : { node: id, field: undefined, path: undefined }, 'graph');
  search.addEventListener('input', show);
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') list.querySelector('button')?.click();
    if (event.key === 'ArrowDown') { event.preventDefault(); list.querySelector('button')?.focus(); }
    if (event.key === 'Escape') { search.value = ''; show(); canvas.node.focus(); }
  });
  list.addEventListener('keydown', (event) => {
    const rows = [...list.querySelectorAll('button')];
    const at = rows.indexOf(document.activeElement);
    if (event.key === 'ArrowDown') { event.preventDefault(); rows[at + 1]?.focus(); }
    if (event.key === 'ArrowUp') { event.preventDefault(); (rows[at - 1] || search).focus(); }
  });
  const isFocused = document.activeElement === held;
  fill(node, search, side.pathFrom ? el('p', { class: 'quiet' }, 'Way from ', el('b', {}, side.pathFrom), ' to: choose a node ',
    el('button', { type: 'button', onclick: () => { side.pathFrom = null; side(node, project); } }, 'Cancel')) : null, controls, list,
  commandButton('purlin graph ' + shellWord(project.path) + environmentOf(project) + ' -o svg --out graph.svg'));
  show();
  if (isFocused) search.focus();
}

export function environmentOf(project) {
  return project.environment ? ' ' + project.option + ' ' + shellWord(project.environment) : '';
}

// The next node that is chosen is the end of a way from this one.
export function askPath(id, main, project) {
  side.pathFrom = id;
  side(main.querySelector('.side'), project);
  document.getElementById('search').focus();
}

export function endPath() {
  side.pathFrom = null;
}

export function graphCanvas() {
  return canvas;
}
