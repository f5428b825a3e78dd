// Makes elements. Text is always text: nothing that a project says is read as HTML.

export function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'class') node.className = value;
    else if (name === 'value') node.value = value;
    else if (name === 'checked') node.checked = value;
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  add(node, children);
  return node;
}

export function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren();
  return add(node, children);
}

// Says something to those who do not see the page, and to the others for a moment.
export function tell(text) {
  const note = document.getElementById('note');
  note.textContent = text;
  note.classList.add('is-shown');
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => note.classList.remove('is-shown'), 2500);
}

// A button that copies the command with the same answer.
export function commandButton(command) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      tell('Copied: ' + command);
    } catch {
      tell(command);
    }
  };
  return el('button', { class: 'command', type: 'button', title: 'Copy the command with the same answer', onclick: copy },
    el('span', { class: 'prompt', 'aria-hidden': 'true' }, '$ '), el('code', {}, command),
    el('span', { class: 'hint' }, 'Copy'));
}

// A word of a shell, in quotes where it needs them.
export function shellWord(text) {
  return /^[A-Za-z0-9_@%+=:,.\/-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

export function plural(count, one) {
  return count === 1 ? '1 ' + one : count + ' ' + one + 's';
}

export function loading(what) {
  return el('p', { class: 'quiet' }, 'Loading ' + what + ' …');
}

// Words of a message: what stands in backticks is code.
export function message(text) {
  return text.split('`').map((part, at) => (at % 2 ? el('code', {}, part) : part));
}
