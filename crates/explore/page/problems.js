// What is wrong with the project, and what nothing uses.
import { el, fill, commandButton, shellWord, message } from './dom.js';
import { get } from './source.js';
import { current, go, address } from './state.js';

const SIGNS = { error: '✗', warning: '▲', note: 'i' };
const UNUSED = /unused|unread|never|overridden|no-effect|dead|unreachable/;

export async function showProblems(main, project) {
  const { parameters } = current();
  const { problems } = await get('problems');
  const unused = problems.filter((problem) => UNUSED.test(problem.rule));
  const tabs = [['', 'All', problems], ['error', 'Errors', problems.filter((one) => one.severity === 'error')],
    ['warning', 'Warnings', problems.filter((one) => one.severity === 'warning')], ['unused', 'Unused settings', unused]];
  const chosen = tabs.find(([name]) => name === (parameters.only || '')) || tabs[0];
  const page = el('div', { class: 'page' }, el('h1', {}, 'Problems'),
    el('div', { class: 'chips', role: 'group', 'aria-label': 'Which problems' }, tabs.map(([name, label, list]) => el('button', {
      type: 'button', 'aria-pressed': String(name === chosen[0]), onclick: () => go({ only: name || undefined }),
    }, label + ' ' + list.length))),
    chosen[2].length ? el('ul', { class: 'plain problems' }, chosen[2].map((problem) => one(problem, project))) : el('p', { class: 'quiet' }, chosen[0] === 'unused' ? 'Nothing is unused.' : 'No problems.'),
    commandButton('purlin check ' + shellWord(project.path)));
  fill(main, page);
}

function one(problem, project) {
  const place = (file, range) => file && range ? el('button', { type: 'button', class: 'place', onclick: (event) => excerpt(event.target, file, range) }, file + ':' + range.start.line + ':' + range.start.column) : null;
  const near = project.nodes.filter((node) => node.file === problem.file && node.line <= (problem.range?.start.line || 0)).sort((a, b) => b.line - a.line)[0];
  return el('li', { class: 'problem is-' + problem.severity },
    el('div', {}, el('span', { class: 'sign', 'aria-label': problem.severity }, SIGNS[problem.severity] || ''), el('span', { class: 'message' }, message(problem.message))),
    el('div', { class: 'row' }, place(problem.file, problem.range), el('code', { class: 'quiet' }, problem.rule),
      near ? el('a', { href: address('graph', { node: near.id, env: project.environment }) }, near.id) : null),
    problem.hints.map((hint) => el('p', { class: 'hint' }, 'hint: ', message(hint))),
    problem.fix ? el('p', { class: 'hint' }, 'fix: write ', el('code', {}, problem.fix.text), ' there (', el('code', {}, 'purlin fix'), ')') : null,
    problem.labels.map((label) => el('p', { class: 'quiet' }, message(label.message), ' ', place(label.file, label.range))),
    problem.trace.map((label) => el('p', { class: 'quiet' }, message(label.message), ' ', place(label.file, label.range))));
}

// Shows the lines around a place below it, or hides them again.
async function excerpt(button, path, range) {
  const item = button.closest('li');
  const known = item.querySelector('.excerpt');
  if (known) return known.remove();
  const { line } = range.start;
  try {
    const file = await get('file', { path });
    const first = Math.max(1, line - 3);
    item.append(el('pre', { class: 'excerpt', tabindex: '0' }, file.lines.slice(first - 1, Math.max(line, range.end.line) + 3).map((text, at) => el('span', { class: first + at >= line && first + at <= range.end.line ? 'is-lit' : '' },
      String(first + at).padStart(5) + '  ' + text + '\n'))));
  } catch (error) {
    item.append(el('p', { class: 'excerpt quiet' }, error.message));
  }
}
