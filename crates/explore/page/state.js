// What is shown, as it stands in the address: `#/graph?env=staging&node=deploy.web`.

export function current() {
  const [path, words] = location.hash.replace(/^#\/?/, '').split('?');
  const parameters = {};
  for (const [name, value] of new URLSearchParams(words || '')) {
    if (name === 'open') (parameters.open ||= []).push(value);
    else parameters[name] = value;
  }
  if (parameters.open) parameters.open = parameters.open.filter(Boolean);
  return { view: path || 'graph', parameters };
}

export function address(view, parameters) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null || value === '') continue;
    if (Array.isArray(value)) {
      if (value.length === 0) words.append(name, '');
      for (const one of value) words.append(name, one);
    } else words.append(name, value);
  }
  const text = words.toString();
  return '#/' + view + (text ? '?' + text : '');
}

// Goes on from here: what is not named stays.
export function go(changes, view) {
  const now = current();
  location.hash = address(view || now.view, { ...now.parameters, ...changes });
}

// The address after a change, for links.
export function link(changes, view) {
  const now = current();
  return address(view || now.view, { ...now.parameters, ...changes });
}

// Parameters that hold on every page.
export function lasting() {
  const { parameters } = current();
  return { env: parameters.env };
}
