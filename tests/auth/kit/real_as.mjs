// A real authorization server that nobody here wrote: npm oidc-provider 9.13.3 (panva), and a small protected MCP server
// beside it. Dynamic registration, PKCE S256, resource indicators (RFC 8707), iss (RFC 9207), rotating refresh tokens,
// revocation (RFC 7009), introspection used by the resource. Its login and consent pages are its own; browser.py fills them in.
//
//   npm i oidc-provider@9.13.3 && node real_as.mjs [--ttl 3600] [--path /mcp]      Node >= 22 (20 works with a warning)
//
// Prints one JSON line: {"url", "issuer", "control"}. control: GET /log · POST /expire (access tokens die) · GET /counts
// ES modules are looked for beside this file; or set OIDC_PROVIDER to the file URL of oidc-provider/lib/index.js.
import http from 'node:http';
const { default: Provider } = await import(process.env.OIDC_PROVIDER ?? 'oidc-provider');
const arg = (n, d) => { const i = process.argv.indexOf(n); return i < 0 ? d : process.argv[i + 1]; };
const ttl = Number(arg('--ttl', 3600)), mcpPath = arg('--path', '/mcp');
const listen = (h) => new Promise((ok) => { const s = http.createServer(h).listen(0, '127.0.0.1', () => ok(s)); });
const origin = (s) => `http://127.0.0.1:${s.address().port}`;
const log = [];
let asHandler, rsHandler, before = 0;
const as = await listen((q, r) => { log.push({ at: 'as', method: q.method, url: q.url }); r.on('finish', () => { log.at(-1).status ??= r.statusCode; }); asHandler(q, r); });
const rs = await listen((q, r) => rsHandler(q, r));
const resource = origin(rs) + mcpPath;
const provider = new Provider(origin(as), {
  features: {
    registration: { enabled: true }, revocation: { enabled: true }, introspection: { enabled: true, allowedPolicy: () => true },
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_c, indicator) => {
        if (indicator !== resource) { const e = new Error('unknown resource'); e.error = 'invalid_target'; e.statusCode = 400; e.expose = true; throw e; }
        return { scope: 'files:read files:write', audience: resource, accessTokenFormat: 'opaque', accessTokenTTL: ttl };
      },
    },
  },
  clients: [{ client_id: 'rs', client_secret: 'rs-secret-of-the-fixture-0123456789', redirect_uris: [], grant_types: [], response_types: [] }],
  pkce: { required: () => true },
  scopes: ['openid', 'offline_access', 'files:read', 'files:write'],
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
  rotateRefreshToken: true,
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  ttl: { AccessToken: ttl, RefreshToken: 86400, Grant: 86400, Session: 86400, Interaction: 600 },
  cookies: { keys: ['kit'] },
});
provider.on('server_error', (_c, e) => console.error(e));
for (const e of ['grant.success', 'grant.error', 'registration_create.success', 'registration_create.error', 'authorization.success', 'authorization.error'])
  provider.on(e, (...a) => { const ctx = a[0]; const err = a.find((x) => x instanceof Error); log.push({ at: 'event', event: e, grant: ctx?.oidc?.params?.grant_type, error: err?.error, text: err?.error_description, resource: ctx?.oidc?.params?.resource }); });
const callback = provider.callback();
asHandler = (q, r) => {
  if (q.url === '/.well-known/oauth-authorization-server') q.url = '/.well-known/openid-configuration';
  callback(q, r);
};
const issued = () => Math.floor(Date.now() / 1000);
rsHandler = (req, res) => {
  const chunks = [];
  req.on('data', (c) => chunks.push(c)).on('end', async () => {
    const send = (status, body, headers = {}) => { log.push({ at: 'rs', method: req.method, url: req.url, status }); const t = body === undefined ? '' : JSON.stringify(body); res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(t), ...headers }).end(t); };
    if (req.url === '/.well-known/oauth-protected-resource' + mcpPath) return send(200, { resource, authorization_servers: [origin(as)], scopes_supported: ['files:read'] });
    if (req.url !== mcpPath) return send(404, {});
    const challenge = { 'WWW-Authenticate': `Bearer resource_metadata="${origin(rs)}/.well-known/oauth-protected-resource${mcpPath}", scope="files:read"` };
    const token = /^bearer (.+)$/i.exec(req.headers.authorization ?? '')?.[1];
    const t = token && await provider.AccessToken.find(token);
    if (!t || t.aud !== resource || t.iat < before) return send(401, { error: 'invalid_token' }, challenge);
    if (req.method !== 'POST') return send(req.method === 'DELETE' ? 200 : 405, {});
    let m; try { m = JSON.parse(Buffer.concat(chunks)); } catch { return send(400, {}); }
    if (m.id === undefined) { res.writeHead(202).end(); return; }
    const meta = m.params?._meta ?? {}, modern = 'io.modelcontextprotocol/protocolVersion' in meta;
    const info = { name: 'real-protected', version: '1.0.0' };
    const ok = (result, cache) => send(200, { jsonrpc: '2.0', id: m.id, result: modern ? { resultType: 'complete', ...(cache ? { ttlMs: 0, cacheScope: 'private' } : {}), ...result, _meta: { 'io.modelcontextprotocol/serverInfo': info } } : result });
    if (m.method === 'initialize') return ok({ protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: info });
    if (m.method === 'server/discover' && modern) return ok({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }, true);
    if (m.method === 'ping') return ok({});
    if (m.method === 'tools/list') return ok({ tools: [{ name: 'echo', description: 'Returns the text.', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }] }, true);
    if (m.method === 'tools/call') return ok({ content: [{ type: 'text', text: `${t.accountId}:${m.params.arguments?.text ?? ''}` }], isError: false });
    return send(200, { jsonrpc: '2.0', id: m.id, error: { code: -32601, message: 'Method not found' } });
  });
};
const control = await listen((q, r) => {
  const json = (x) => r.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(x));
  if (q.url === '/expire') { before = issued() + 1; return setTimeout(() => json({}), 1100); }
  const count = (f) => log.filter(f).length;
  if (q.url === '/counts') return json({
    register: count((e) => e.event === 'registration_create.success'), authorize: count((e) => e.event === 'authorization.success'),
    exchange: count((e) => e.event === 'grant.success' && e.grant === 'authorization_code'), refresh: count((e) => e.event === 'grant.success' && e.grant === 'refresh_token'),
    revoke: count((e) => e.at === 'as' && e.method === 'POST' && e.url === '/token/revocation' && e.status === 200), errors: log.filter((e) => e.error).map((e) => `${e.event} ${e.error} ${e.text ?? ''}`) });
  json(log);
});
console.log(JSON.stringify({ url: resource, issuer: origin(as), control: origin(control), config: {} }));
const parent = process.ppid;
setInterval(() => { if (process.ppid !== parent) process.exit(0); }, 500);
setTimeout(() => process.exit(0), 900_000);
