// What scripts find when they run. It is made anew for each call, and keeps what it needs from being replaced by them.
(function (texts) {
  'use strict';
  const { parse, stringify } = JSON;
  const { hasOwn } = Object;
  const { isArray } = Array;
  const Module = Function;
  const Text = String;
  const modules = new Map();
  const find = Map.prototype.get.bind(modules);
  const keep = Map.prototype.set.bind(modules);

  // Nothing that differs between two runs.
  for (const name of ['Date', 'performance', 'WeakRef', 'FinalizationRegistry', 'Atomics', 'SharedArrayBuffer', 'gc']) {
    delete globalThis[name];
  }
  delete Math.random;

  const json = value => {
    const text = stringify(value, (_, part) => (part === undefined ? null : part));
    return text === undefined ? 'null' : text;
  };
  const plain = value => (typeof value === 'string' ? value : json(value));
  const refused = name => () => {
    throw new Error('`' + name + '` is not available here');
  };

  function sprintf(format) {
    let next = 1;
    return Text(format).replace(/%([a-z%])/g, (whole, verb) => {
      if (verb === '%') return '%';
      const value = arguments[next++];
      return verb === 'q' ? json(Text(value)) : plain(value);
    });
  }

  const puccini = {
    sprintf,
    isType: (value, type) => isType(value, type),
    deepCopy: value => parse(json(value)),
    deepEqual: (a, b) => json(a) === json(b),
    fail: message => {
      throw Text(message);
    },
    failf: (...parts) => {
      throw sprintf(...parts);
    },
  };
  for (const name of ['write', 'exec', 'download', 'loadString', 'temporaryFile', 'temporaryDirectory', 'now', 'nowString', 'hash']) {
    puccini[name] = refused('puccini.' + name);
  }
  const silent = () => {};
  const log = {};
  for (const name of ['critical', 'error', 'warning', 'notice', 'info', 'debug']) log[name] = log[name + 'f'] = silent;
  puccini.log = log;

  function isType(value, type) {
    switch (type) {
      case 'ard.null': return value === null;
      case 'ard.boolean': return typeof value === 'boolean';
      case 'ard.integer': return Number.isInteger(value);
      case 'ard.float': return typeof value === 'number';
      case 'ard.string': return typeof value === 'string';
      case 'ard.list': return isArray(value);
      case 'ard.map': return typeof value === 'object' && value !== null && !isArray(value);
      default: throw new Error('unknown type `' + type + '`');
    }
  }

  // Of Puccini's own modules what scripts use most.
  const isTosca = (entity, kind) => {
    const own = entity && entity.metadata && entity.metadata.puccini;
    return !!own && own.version === '1.0' && (kind === undefined || own.kind === kind);
  };
  const typed = (entity, type) => type === undefined || hasOwn(entity.properties.types || {}, type);
  const known = {
    'tosca.lib.utils': {
      isTosca,
      isNodeTemplate: (vertex, type) => isTosca(vertex, 'NodeTemplate') && typed(vertex, type),
      isCapability: (capability, type) => type === undefined || hasOwn(capability.types || {}, type),
    },
  };

  const clout = new Proxy({}, {
    get: (_, name) => refused('clout.' + Text(name))(),
    has: refused('clout'),
    ownKeys: refused('clout'),
  });

  function load(name) {
    const loaded = find(name);
    if (loaded !== undefined) return loaded;
    if (!hasOwn(texts, name)) {
      if (hasOwn(known, name)) return known[name];
      throw new Error('unknown scriptlet `' + name + '`');
    }
    const exports = {};
    keep(name, exports);
    new Module('exports', 'require', 'puccini', 'clout', 'log', texts[name])(exports, load, puccini, clout, log);
    return exports;
  }

  const told = run => {
    try {
      return run();
    } catch (error) {
      // Where there is no room for an error, there is none.
      if (error === null) return 'eInternalError: out of memory';
      return 'e' + (error instanceof Error ? error.name + ': ' + error.message : plain(error));
    }
  };

  return {
    call: (name, exported, given) =>
      told(() => {
        const called = load(name)[exported];
        if (typeof called !== 'function') return 'm';
        return 'v' + json(called.apply({}, parse(given)));
      }),
  };
})
