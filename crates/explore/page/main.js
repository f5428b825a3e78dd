// Puts the page together: the bar above, and the view that the address names.
import { el, fill, loading } from './dom.js';
import { get, watch, isReport } from './source.js';
import { current, go, address } from './state.js';
import { showGraph, graphCanvas, endPath } from './graph.js';
import { showNode } from './node.js';
import { showCompare } from './compare.js';
import { showProblems } from './problems.js';

const VIEWS = [['graph', 'Graph'], ['compare', 'Compare'], ['problems', 'Problems']];
const main_ = document.getElementById('main');
let isWatching = false;

function bar(project) {
  const { view, parameters } = current();
  const { errors, warnings } = project.counts;
  const badge = (name) => name === 'problems' && errors + warnings ? el('span', { class: 'badge' + (errors ? ' is-wrong' : '') }, errors || warnings) : null;
  const names = project.environments;
  const choose = names.length > 1 || names[0]?.name ? el('label', { class: 'field' }, el('span', { class: 'label' }, project.noun || 'variant'),
    el('select', { id: 'environment', 'aria-label': project.noun || 'variant', onchange: (event) => go({ env: event.target.value }) },
      names.map((one) => el('option', { value: one.name, selected: one.name === project.environment }, (one.name || 'by itself') + (one.broken ? ' ✗' : ''))),
      project.missing.map((one) => el('option', { value: one.name, disabled: true }, one.name + ' ✗')))) : null;
  const focused = document.activeElement?.id;
  fill(document.getElementById('bar'), el('a', { class: 'brand', href: address('graph', { env: parameters.env }) }, el('b', {}, project.project || 'project'), el('span', { class: 'quiet' }, project.dialect)),
    el('nav', { 'aria-label': 'Views' }, VIEWS.map(([name, label]) => el('a', { href: address(name, { env: parameters.env }), 'aria-current': view === name ? 'page' : undefined }, label, badge(name)))),
    el('span', { class: 'grow' }), parameters.compare ? el('button', { type: 'button', class: 'chip', onclick: () => go({ compare: undefined }) }, 'compared with ' + parameters.compare.slice(4) + ' ✕') : null, choose);
  if (focused) document.getElementById(focused)?.focus();
}

async function show() {
  const { view, parameters } = current();
  let project;
  try {
    project = await get('project', parameters.env ? { env: parameters.env } : {});
  } catch (error) {
    fill(main_, el('div', { class: 'page' }, el('h1', {}, 'There is nothing to show'), el('p', {}, error.message)));
    return;
  }
  if (!isWatching) {
    isWatching = true;
    watch(project.version, show);
  }
  document.title = (project.project || 'Purlin') + (parameters.node ? ' · ' + parameters.node : view === 'graph' ? '' : ' · ' + view);
  bar(project);
  main_.className = 'is-' + view;
  try {
    if (view === 'compare') await showCompare(main_, project);
    else if (view === 'problems') await showProblems(main_, project);
    else {
      if (parameters.path) endPath();
      const node = main_.querySelector('.panel') ? showNode(main_, project) : null;
      await showGraph(main_, project);
      await (node || showNode(main_, project));
    }
    document.body.dataset.shown = location.hash || '#';
  } catch (error) {
    fill(main_, el('div', { class: 'page' }, el('h1', {}, 'This cannot be shown'), el('p', { class: 'wrong' }, error.message),
      el('p', {}, el('a', { href: address('graph', {}) }, 'Back to the graph'))));
  }
}

addEventListener('hashchange', show);
addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || '');
  if (event.key === '/' && !isTyping) {
    const search = document.getElementById('search');
    if (search) { event.preventDefault(); search.focus(); search.select(); }
    else go({}, 'graph');
  }
  if (event.key === 'Escape' && !isTyping && current().parameters.node) go({ node: undefined, field: undefined, path: undefined, focus: undefined, wide: undefined });
});
// What measurements read.
globalThis.purlin = { canvas: graphCanvas, isReport };
fill(main_, el('div', { class: 'page' }, loading('the project')));
show();
