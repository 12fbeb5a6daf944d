// What a script finds besides the language. Evaluated before it; keeps what it needs of the language for itself, so that
// a script that changes the language changes it for itself alone.
((send, log) => {
    'use strict';
    const { parse, stringify } = JSON;
    const { create, defineProperty } = Object;
    const { isArray } = Array;
    const [Later, Fault, WrongType, Stand, Text, now] = [Promise, Error, TypeError, Proxy, String, Date.now];
    const waiting = create(null);

    const call = (path, args) => new Later((resolve, reject) => {
        if (typeof path !== 'string') throw new WrongType('call needs a tool first: call("server:tool", { … })');
        if (args !== undefined && (args === null || typeof args !== 'object' || isArray(args))) {
            throw new WrongType(`the arguments of ${path} must be an object`);
        }
        const text = args === undefined ? '{}' : stringify(args);
        waiting[send(path, text)] = { resolve, reject, path };
    });

    const settle = (id, good, text) => {
        const one = waiting[id];
        if (one === undefined) return;
        delete waiting[id];
        if (good) {
            one.resolve(parse(text));
        } else {
            const error = new Fault(text);
            defineProperty(error, 'name', { value: 'ToolError', configurable: true, writable: true });
            defineProperty(error, 'tool', { value: one.path, enumerable: true, configurable: true, writable: true });
            one.reject(error);
        }
    };

    // Whoever awaits a server or a tool means the thing itself: it is no promise.
    const named = (key) => typeof key === 'string' && key !== 'then';
    const server = (name) => new Stand(create(null), {
        get: (_, tool) => named(tool) ? (args) => call(`${name}:${tool}`, args) : undefined,
    });
    const servers = new Stand(create(null), { get: (_, name) => named(name) ? server(name) : undefined });

    const shown = (value) => {
        if (typeof value === 'string') return value;
        if (value instanceof Fault) return Text(value);
        try {
            return stringify(value) ?? Text(value);
        } catch {
            return Text(value);
        }
    };
    const say = (...values) => {
        let line = '';
        for (let at = 0; at < values.length; at++) line += (at ? ' ' : '') + shown(values[at]);
        log(line);
    };

    const give = (name, value) => defineProperty(globalThis, name, { value, configurable: true, writable: true });
    give('call', call);
    give('servers', servers);
    give('console', { log: say, info: say, warn: say, error: say, debug: say });
    give('performance', { now: () => now() });
    for (const name of ['Atomics', 'SharedArrayBuffer', 'navigator', 'gc']) delete globalThis[name];

    const run = async (body, input) => {
        const value = await body(parse(input));
        return value === undefined ? undefined : stringify(value);
    };
    return { run, settle };
})
