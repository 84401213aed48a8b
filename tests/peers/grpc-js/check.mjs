// Speaks to the control whose data directory is CONTROL_DIR; PROTOS holds croft/v1. Ends with 1 at the first thing that is not as it should be.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const directory = process.env.CONTROL_DIR;
const read = (name) => readFileSync(`${directory}/${name}`, 'utf8');
const token = /token: *"?([^\s"]+)/.exec(read('operator.yaml'))[1];
const services = ['farm', 'site', 'store', 'pool', 'change', 'resource', 'account', 'error'];
const definition = protoLoader.loadSync(services.map((name) => `croft/v1/${name}.proto`),
  { includeDirs: [process.env.PROTOS], keepCase: true, longs: Number, enums: String, defaults: true });
const { v1 } = grpc.loadPackageDefinition(definition).croft;
const credentials = grpc.credentials.createSsl(Buffer.from(read('ca.crt')));
const address = read('listen').trim();
const metadata = new grpc.Metadata();
metadata.set('authorization', `Bearer ${token}`);

const clients = {};
// call('SiteService/CreateSite', request) -> { answer, trailers }; throws the ServiceError.
function call(path, request, meta = metadata) {
  const [service, method] = path.split('/');
  clients[service] ??= new v1[service](address, credentials);
  return new Promise((resolve, reject) => {
    let trailers;
    const sent = clients[service][method](request, meta, { deadline: Date.now() + 20_000 },
      (error, answer) => (error ? reject(error) : setImmediate(() => resolve({ answer, trailers }))));
    sent.on('status', (status) => { trailers = status.metadata; });
  });
}
async function refused(path, request, code, meta = metadata) {
  const error = await call(path, request, meta).then(() => assert.fail(`${path} is not refused`), (reason) => reason);
  assert.equal(error.code, code, error.message);
  return error;
}
// The next message of a stream that `wanted` likes.
function next(stream, wanted) {
  return new Promise((resolve, reject) => {
    const onData = (message) => {
      if (wanted(message)) {
        stream.off('data', onData);
        resolve(message);
      }
    };
    stream.on('data', onData);
    stream.on('error', reject);
  });
}

async function create() {
  await call('FarmService/CreateFarm', { farm_id: 'main' });
  await call('StoreService/CreateStore', { parent: 'farms/main', store_id: 'files', store: { path: '/srv/files', homes: { fan_out: [7] } } });
  await call('PoolService/CreatePool', { parent: 'farms/main', pool_id: 'static' });
  const site = { bindings: [{ host: 'shop.example' }], labels: { tier: 'gold' } };
  const { answer, trailers } = await call('SiteService/CreateSite', { parent: 'farms/main', site_id: 'shop', site, request_id: 'once' });
  assert.equal(answer.name, 'farms/main/sites/shop');
  assert.ok(answer.revision > 0 && answer.etag);
  assert.deepEqual(trailers.get('croft-counts'), ['created=1']);
  const again = await call('SiteService/CreateSite', { parent: 'farms/main', site_id: 'shop', site, request_id: 'once' });
  assert.deepEqual(again.answer, answer);
  return answer;
}

async function list() {
  for (let i = 0; i < 25; i += 1) {
    await call('SiteService/CreateSite', { parent: 'farms/main', site_id: `s${i}`, site: { bindings: [{ host: `s${i}.example` }] } });
  }
  const names = [];
  let page_token = '';
  do {
    const { answer } = await call('SiteService/ListSites', { parent: 'farms/main', page_size: 10, page_token });
    names.push(...answer.sites.map((site) => site.name));
    page_token = answer.next_page_token;
  } while (page_token);
  assert.equal(names.length, 26);
  assert.deepEqual(names, [...new Set(names)].sort());
  const { answer } = await call('SiteService/ListSites', { parent: 'farms/main', filter: 'labels.tier = gold' });
  assert.deepEqual(answer.sites.map((site) => site.name), ['farms/main/sites/shop']);
}

async function stream() {
  const client = new v1.ResourceService(address, credentials);
  const watch = client.WatchResources({ type: 'site', parent: 'farms/main', send_existing: true }, metadata);
  await next(watch, (message) => message.resource?.site?.name === 'farms/main/sites/shop' && message.kind === 'CREATED');
  const changed = next(watch, (message) => message.kind === 'UPDATED');
  await call('SiteService/UpdateSite', { site: { name: 'farms/main/sites/shop', state: 'STOPPED' }, update_mask: { paths: ['state'] } });
  const update = await changed;
  assert.equal(update.resource.site.state, 'STOPPED');
  watch.on('error', () => {});  // CANCELLED, by us
  watch.cancel();
  const resumed = client.WatchResources({ type: 'site', parent: 'farms/main', resume_token: update.resume_token }, metadata);
  const gone = next(resumed, (message) => message.kind !== 'BOOKMARK');
  await call('SiteService/DeleteSite', { name: 'farms/main/sites/s0' });
  assert.equal((await gone).kind, 'DELETED');
  resumed.on('error', () => {});
  resumed.cancel();

  const bulk = client.ImportResources(metadata);
  const counted = new Promise((resolve, reject) => {
    const total = { created: 0, failed: 0, lines: [] };
    bulk.on('data', (response) => {
      total.created += response.counts?.created ?? 0;
      total.failed += response.counts?.failed ?? 0;
      total.lines.push(...response.errors.map((row) => row.line));
    });
    bulk.on('error', reject);
    bulk.on('end', () => resolve(total));
  });
  const row = (line, id) => ({ line, resource: { account: { name: `farms/main/accounts/${id}` } } });
  bulk.write({ rows: [row(1, 'ann'), row(2, 'bob'), row(3, 'not a name')] });
  bulk.write({ rows: [row(4, 'eve')] });
  bulk.end();
  assert.deepEqual(await counted, { created: 3, failed: 1, lines: [3] });
}

async function wait(site) {
  const { answer } = await call('ChangeService/WaitForRevision', { farm: 'farms/main', revision: site.revision, level: 'SERVING', timeout_ms: 2000 });
  assert.equal(answer.reached, true);
}

async function errors() {
  const taken = await refused('SiteService/CreateSite', { parent: 'farms/main', site_id: 'other', site: { bindings: [{ host: 'shop.example' }] } },
    grpc.status.ALREADY_EXISTS);
  assert.match(taken.details, /shop\.example/);
  assert.ok(taken.metadata.get('grpc-status-details-bin').length > 0, 'the detail travels beside the status');
  const invalid = await refused('SiteService/CreateSite', { parent: 'farms/main', site_id: 'tab', site: { bindings: [{ host: 'a\tb' }] } },
    grpc.status.INVALID_ARGUMENT);
  assert.match(invalid.details, /host/);
  await refused('SiteService/GetSite', { name: 'farms/main/sites/none' }, grpc.status.NOT_FOUND);
  await refused('SiteService/GetSite', { name: 'farms/main/sites/shop' }, grpc.status.UNAUTHENTICATED, new grpc.Metadata());
}

const shop = await create();
await list();
await stream();
await wait(shop);
await errors();
console.log('grpc-js: create, list, stream, wait and errors are as they should be');
process.exit(0);
