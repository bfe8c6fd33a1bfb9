// Anchors, unreadable logs, and gateways that try to exhaust a monitor.

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { isoSeconds } from '@svc/protocol/evidence'
import { expect, it, onTestFinished } from 'vitest'
import { boundedGet, Unreadable } from '../../src/monitor/bounded-get.ts'
import { kindsOf, startMonitorStack } from './monitor-stack.ts'
import { NOW } from './test-gateway.ts'

const HOUR = 3600

it('MON-08 the monitor raises one alarm for late statements until they are published', async () => {
  await using stack = await startMonitorStack({ MONITOR_ANCHOR_SECONDS: String(HOUR) })
  const { gateway, wait, runRound } = stack
  for (let i = 0; i < 3; i++) gateway.attest(i)
  const root = await gateway.publish()
  gateway.entries[0]!.anchor = { tx: '1' }
  expect(await runRound()).toEqual([])
  wait(HOUR + 1)
  const [late, ...more] = await runRound()
  expect([late?.kind, late?.message, more]).toEqual([
    'late_anchor',
    'entry 1: neither the statement nor a checkpoint with it was published in time',
    [],
  ])
  expect(JSON.parse(late!.evidence[1]!)).toEqual(gateway.entries[1]!.envelope)

  const payload = { s: 'svc/log-anchor/v1', o: gateway.origin, n: 3, root }
  gateway.anchors.unshift({ tx: 'other', payload: { ...payload, root: 'ee'.repeat(32) } })
  expect(kindsOf(await runRound())).toEqual(['late_anchor', 'wrong_anchor'])
  gateway.anchors.unshift({ tx: 'right', payload })
  expect((await runRound())[0]).toMatchObject({ kind: 'late_anchor', resolved_at: isoSeconds(NOW + HOUR + 1) })

  // Late again: the same alarm is reopened.
  gateway.attest(1, { issuedAtUnix: NOW + HOUR })
  await gateway.publish()
  expect((await runRound())[0]!.resolved_at).not.toBeNull()
  wait(HOUR)
  expect((await runRound())[0]).toMatchObject({ resolved_at: null, message: expect.stringMatching(/^entry 3: /) })
})

it('MON-08 the monitor reads anchors from a node, and an unavailable node decides nothing', async () => {
  let answers = (): unknown => null
  const node = await startServer(async (_method, body) => {
    const { id } = body as { id: number }
    return { jsonrpc: '2.0', id, result: answers() }
  })
  await using stack = await startMonitorStack({ MONITOR_ANCHOR_SECONDS: String(HOUR), MONITOR_RPC_URL: node.url })
  const { gateway, wait, runRound, witness } = stack
  gateway.attest(1).anchor = { tx: '1'.repeat(64) }
  await gateway.publish()
  wait(HOUR + 1)
  const anchored = () => witness.context.database.db.selectFrom('monitored_logs').select('anchored').execute()
  answers = () => 'nonsense'
  expect(await runRound()).toEqual([])
  expect(await anchored()).toEqual([{ anchored: 0 }])
  // The node does not know the transaction.
  answers = () => null
  expect(await runRound()).toEqual([])
  wait(HOUR + 1)
  expect(kindsOf(await runRound())).toEqual(['late_anchor'])
})

it('MON-09 the monitor raises an alarm for a log that is unreachable too long, and retries the webhook until it accepts it', async () => {
  const taken: unknown[] = []
  let isOpen = false
  const webhook = await startServer(async (_method, body) => {
    if (!isOpen) throw new Error('closed')
    taken.push(body)
    return {}
  })
  await using stack = await startMonitorStack({ MONITOR_UNREACHABLE_SECONDS: '600', MONITOR_WEBHOOK_URL: webhook.url })
  const { gateway, wait, runRound, witness } = stack
  gateway.attest(1)
  gateway.attest(2)
  await gateway.publish()
  const older = gateway.checkpoint
  gateway.attest(3)
  await gateway.publish()
  const newer = gateway.checkpoint
  expect(await runRound()).toEqual([])

  // For a while, an older checkpoint may come from a cache.
  gateway.checkpoint = older
  wait(600)
  expect(await runRound()).toEqual([])
  wait(1)
  const [alarm] = await runRound()
  expect(alarm).toMatchObject({ kind: 'unreachable_too_long', evidence: [newer, older], resolved_at: null })
  const health = await (await fetch(`${witness.url}/health`)).json()
  expect(health).toMatchObject({
    open_alarms: 1,
    monitored: [{ origin: gateway.origin, size: 3, problem: alarm!.message }],
  })
  expect(await (await fetch(`${witness.url}/metrics`)).text()).toContain('svc_witness_open_alarms 1\n')

  isOpen = true
  gateway.checkpoint = newer
  expect(await runRound()).toMatchObject([{ resolved_at: isoSeconds(NOW + 601) }])
  await runRound()
  expect(taken).toMatchObject([{ witness: 'witness.example', alarm: { kind: 'unreachable_too_long' } }])
})

it('MON-09 a log that has not begun, or does not grow, raises no alarm unless a witness has a checkpoint of it', async () => {
  for (const isHidden of [false, true]) {
    await using stack = await startMonitorStack({ MONITOR_UNREACHABLE_SECONDS: '600' }, true)
    const { gateway, cosign, wait, runRound, witness } = stack
    if (isHidden) {
      gateway.attest(1)
      await gateway.publish()
      await cosign()
      gateway.checkpoint = ''
    }
    await runRound()
    wait(601)
    expect(kindsOf(await runRound())).toEqual(isHidden ? ['unreachable_too_long'] : [])
    if (isHidden) continue
    const health = await (await fetch(`${witness.url}/health`)).json()
    expect(health).toMatchObject({ status: 'ok', monitored: [{ origin: gateway.origin, problem: null }] })
    gateway.attest(1)
    await gateway.publish()
    expect(await runRound()).toEqual([])
    wait(601)
    expect(await runRound()).toEqual([])
    // A log that has begun cannot become empty again.
    gateway.checkpoint = ''
    wait(601)
    expect(kindsOf(await runRound())).toEqual(['unreachable_too_long'])
  }
})

it.each([
  ['nothing', null],
  ['another log', { origin: 'other.example/log', size: 0 }],
  ['a log that has entries', { size: 1 }],
])('MON-09 a log without a checkpoint eventually raises an alarm when its gateway shows %s', async (_, shown) => {
  await using stack = await startMonitorStack({ MONITOR_UNREACHABLE_SECONDS: '600' })
  const { gateway, wait, runRound } = stack
  const text = JSON.stringify({ origin: gateway.origin, ...shown })
  gateway.instead.set('/v1/log', (_request, response) => void response.writeHead(shown ? 200 : 404).end(text))
  await runRound()
  wait(601)
  expect(kindsOf(await runRound())).toEqual(['unreachable_too_long'])
})

it('T-106 a gateway that returns nonsense is only reported as unreachable', { tags: ['nightly'] }, async () => {
  await using stack = await startMonitorStack({ MONITOR_UNREACHABLE_SECONDS: '600' })
  const { gateway, runRound, witness } = stack
  for (let i = 0; i < 300; i++) gateway.attest(i)
  await gateway.publish()
  const state = async () => {
    expect(await runRound()).toEqual([])
    const rows = await witness.context.database.db.selectFrom('monitored_logs').select(['problem', 'judged']).execute()
    return `${rows[0]!.judged} judged: ${rows[0]!.problem}`
  }
  const text = (body: string | Uint8Array) => (_: unknown, response: { end(body: string | Uint8Array): void }) =>
    response.end(body)
  const cases: [path: string, body: string | Uint8Array, problem: RegExp][] = [
    ['/v1/keys', '{"schema":"other"}', /list of keys/],
    ['/.well-known/svc.json', '[]', /not a JSON object/],
    ['/log/checkpoint', 'nonsense', /no blank line/],
    ['/log/checkpoint', gateway.checkpoint.replace('\n300\n', '\n299\n'), /not signed/],
    ['/log/checkpoint', 'x'.repeat(70_000), /more than 65536 bytes/],
    ['/log/checkpoint', Buffer.concat([Buffer.from(gateway.checkpoint), Buffer.of(0xff)]), /not UTF-8/],
    ['/log/tile/entries/000', new Uint8Array(500), /malformed/],
    ['/log/tile/entries/000', new Uint8Array(256 * 34).fill(0).map((_, i) => (i % 34 === 1 ? 32 : 0)), /does not lead/],
    ['/log/tile/0/001.p/44', new Uint8Array(9000), /more than 8192 bytes/],
    ['/v1/log/statements', '{"entries":7}', /no entries/],
    ['/v1/log/statements', '{"entries":[],"entries":[]}', /not strict JSON/],
    ['/v1/log/statements', `{"entries":[${'0,'.repeat(300_000)}0]}`, /not strict JSON/],
    ['/v1/log/statements', 'x'.repeat(5_000_000), /more than 4194304 bytes/],
  ]
  for (const [path, body, expected] of cases) {
    gateway.instead.clear()
    gateway.instead.set(path, text(body))
    const after = await state()
    expect([path, after]).toEqual([path, expect.stringMatching(expected)])
    expect(after).toMatch(/^0 judged/)
  }
  // One statement per response: the monitor limits its requests.
  gateway.instead.clear()
  gateway.instead.set('/v1/log/statements', (request, response) => {
    const from = Number(new URL(request.url!, gateway.url).searchParams.get('from'))
    response.end(JSON.stringify({ entries: [{ index: from, statement_digest: 'x', envelope: null, anchor: null }] }))
  })
  const before = gateway.requests.length
  await runRound()
  expect(gateway.requests.length - before).toBeLessThan(60)
})

it('T-106 an interrupted monitor resumes without skipping or repeating findings', async () => {
  await using stack = await startMonitorStack()
  const { gateway, runRound, witness } = stack
  for (let i = 0; i < 600; i++)
    gateway.attest(i % 100, i === 205 || i === 505 ? { previousDigest: 'ee'.repeat(32) } : {})
  await gateway.publish()
  const judged = () => witness.context.database.db.selectFrom('monitored_logs').select('judged').execute()
  const found = async () => (await runRound()).map(({ message }) => message.split(':')[0])
  gateway.instead.set('/v1/log/statements?from=256&', ({ socket }) => socket.destroy())
  expect([await found(), await judged()]).toEqual([['entry 205'], [{ judged: 256 }]])
  gateway.instead.clear()
  expect([await found(), await judged()]).toEqual([['entry 205', 'entry 505'], [{ judged: 600 }]])
})

it('T-106 endless responses are aborted', async () => {
  const server = await startServer(() => new Promise(() => {}))
  const get = boundedGet(new AbortController().signal, 50)
  await expect(get(server.url, 100)).rejects.toThrow(Unreadable)
  const stopping = new AbortController()
  const asked = boundedGet(stopping.signal)(server.url, 100)
  stopping.abort()
  await expect(asked).rejects.toThrow('aborted')
})

/** Responds to each request with the result of `answer`; with 500 if it throws. */
async function startServer(answer: (method: unknown, body: unknown) => Promise<unknown>) {
  const server: Server = createServer(async (request, response) => {
    try {
      const body = request.method === 'POST' ? await json(request) : null
      response.end(JSON.stringify(await answer((body as { method?: unknown } | null)?.method, body)))
    } catch {
      response.writeHead(500).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
