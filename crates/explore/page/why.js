// How a value was made, as steps with the lines that they are written in.
import { el } from './dom.js';

export function placeLink(origin, open) {
  if (!origin || !origin.file) return null;
  const text = origin.file + ':' + origin.line;
  return el('button', { type: 'button', class: 'place', title: 'Show the file', onclick: () => open(origin.file, origin.line) }, text);
}

function originText(origin) {
  if (!origin) return '';
  const { kind, detail } = origin;
  if (kind === 'default') return detail?.startsWith('default ') ? detail : 'default ' + (detail || '');
  if (kind === 'env') return 'environment variable ' + detail;
  if (kind === 'flag') return 'flag ' + detail;
  if (kind === 'parent') return 'inherited from ' + detail;
  if (kind === 'computed') return detail ? 'computed by ' + detail : 'computed';
  return '';
}

function step(made, open, label) {
  const inner = [...made.inputs.map((one) => step(one, open)), ...made.overrode.map((one) => step(one, open, 'over'))];
  return el('li', { class: label ? 'is-over' : '' },
    el('div', { class: 'step' },
      label ? el('span', { class: 'label' }, label) : null,
      made.value !== undefined ? el('code', { class: 'made' }, made.value) : null,
      made.expression ? el('code', { class: 'expression' }, made.expression) : null,
      originText(made.origin) ? el('span', { class: 'quiet' }, originText(made.origin)) : null,
      placeLink(made.origin, open)),
    made.line ? el('pre', { class: 'line' }, made.line) : null,
    inner.length ? el('ul', {}, inner) : null);
}

export function chain(why, open) {
  const because = why.because || [];
  return el('div', { class: 'why' }, el('ul', { class: 'chain' }, step(why.made, open)),
    because.length ? el('div', { class: 'because' }, el('h4', {}, 'Because'), el('ul', {}, because.map((one) => el('li', {},
      el('code', {}, one.condition), ' ', placeLink(one, open))))) : null);
}
