import { writable } from '@svc/devnet/writable'
import { fromBase64, toHex } from '@svc/protocol/bytes'
import { isoSeconds, statementDigest } from '@svc/protocol/evidence'
import { endorsementMessage, namedKey, revocationMessage, signedChange } from '@svc/protocol/key-changes'
import { ed25519Signer } from '@svc/protocol/keys'
import { KEY_ENDORSEMENT_SCHEMA, KEY_REVOCATION_SCHEMA } from '@svc/protocol/names'
import { testKey } from '@svc/protocol/test/transparency/keys'
import { readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { isSignedBy } from '@svc/protocol/transparency/note'
import { isProvenEntry, readProof } from '@svc/protocol/transparency/proof'
import { prefixRoots } from '@svc/protocol/transparency/tree'
import { expect, it } from 'vitest'
import { checkAlarm } from '../../src/monitor/check-alarm.ts'
import { kindsOf, startMonitorStack } from './monitor-stack.ts'
import { NOW, SIGNER, type TestGateway } from './test-gateway.ts'

const THIEF = ed25519Signer(new Uint8Array(32).fill(9))

it('MON-01 the monitor follows an honest log of more than 1,000 entries without an alarm', {
  tags: ['nightly'],
}, async () => {
  await using stack = await startMonitorStack({ MONITOR_ANCHOR_SECONDS: '60' })
  const { gateway, witness, wait, runRound } = stack
  for (let i = 0; i < 1000; i++) gateway.attest(i % 90)
  await anchorCheckpoint(gateway)
  expect(await runRound()).toEqual([])
  wait(30)
  for (let i = 0; i < 30; i++) gateway.attest(i * 7, { issuedAtUnix: NOW + 20 })
  await anchorCheckpoint(gateway)
  expect(await runRound()).toEqual([])
  wait(100)
  expect(await runRound()).toEqual([])
  const progress = await witness.context.database.db.selectFrom('monitored_logs').selectAll().execute()
  expect(progress).toMatchObject([{ judged: 1030, anchored: 1030, problem: null, read_at: NOW + 130 }])
  expect(gateway.requests.filter((path) => path.includes('/tile/entries/000.p/'))).toEqual([])
})

it('MON-02 T-129 the monitor raises an alarm for contradictory checkpoints, with both as evidence', async () => {
  for (const [name, rewrite] of Object.entries<(gateway: TestGateway) => void>({
    'of equal size': (gateway) => change(gateway, 2),
    'of a larger size': (gateway) => {
      change(gateway, 2)
      gateway.attest(77)
    },
    'of a size that is a power of two': (gateway) => {
      gateway.entries.length = 2
      change(gateway, 0)
      for (let i = 0; i < 7; i++) gateway.attest(70 + i)
    },
  })) {
    await using stack = await startMonitorStack()
    const { gateway, runRound } = stack
    for (let i = 0; i < 4; i++) gateway.attest(i)
    await gateway.publish()
    expect(await runRound()).toEqual([])
    rewrite(gateway)
    await gateway.publish()
    const alarms = await runRound()
    expect([name, kindsOf(alarms)]).toEqual([name, ['fork']])
    expectFork(gateway, alarms[0]!.evidence)
    const text = JSON.stringify(alarms[0])
    expect(checkAlarm(text, gateway.key)).toMatchObject({ isProven: true })
    expect(checkAlarm(text, testKey('other', 'log').key)).toMatchObject({ isProven: false })
    const [, ...others] = alarms[0]!.evidence
    const same = JSON.stringify({ kind: 'fork', evidence: [others[0], ...others] })
    expect(checkAlarm(same, gateway.key)).toMatchObject({ isProven: false })
    // The checkpoints alone prove a fork at one size.
    const [first, second, path = ''] = alarms[0]!.evidence
    const corrupted = JSON.stringify({ kind: 'fork', evidence: [first, second, `AAAA\n${path}`] })
    expect(checkAlarm(corrupted, gateway.key)).toMatchObject({ isProven: name === 'of equal size' })
    expect(await runRound()).toEqual(alarms)
  }
})

it('MON-03 the monitor compares the checkpoints of witnesses, and raises an alarm for a split view', async () => {
  for (const isSplit of [false, true]) {
    await using stack = await startMonitorStack({}, true)
    const { gateway, cosign, runRound } = stack
    for (let i = 0; i < 3; i++) gateway.attest(i)
    await gateway.publish()
    await cosign()
    if (isSplit) change(gateway, 2)
    gateway.attest(5)
    await gateway.publish()
    const alarms = await runRound()
    expect(kindsOf(alarms)).toEqual(isSplit ? ['fork'] : [])
    for (const { message, evidence } of alarms) {
      expect(message).toMatch('as other shows')
      expectFork(gateway, evidence)
    }
  }
})

it("MON-03 a witness's checkpoint that the log does not account for eventually raises an alarm", async () => {
  await using stack = await startMonitorStack({ MONITOR_UNREACHABLE_SECONDS: '600' }, true)
  const { gateway, cosign, runRound, wait } = stack
  for (let i = 0; i < 3; i++) gateway.attest(i)
  await gateway.publish()
  const shown = gateway.checkpoint
  gateway.attest(3)
  await gateway.publish()
  const hidden = gateway.checkpoint
  await cosign()
  gateway.checkpoint = shown
  gateway.instead.set('/log/tile/0/000.p/4', (_, response) => void response.writeHead(404).end())
  expect(await runRound()).toEqual([])
  wait(601)
  const alarms = await runRound()
  expect(kindsOf(alarms)).toEqual(['unreachable_too_long'])
  expect(alarms[0]!.evidence.map((text) => text.split('\n').slice(0, 2))).toEqual([
    [gateway.origin, '3'],
    [gateway.origin, '4'],
  ])
  expect(alarms[0]!.evidence[1]!.startsWith(hidden)).toBe(true)
})

it('MON-04 the monitor raises one alarm for each statement that breaks its chain', async () => {
  await using stack = await startMonitorStack()
  const { gateway, runRound } = stack
  for (const proof of [1, 2, 3, 4]) for (let i = 0; i < 3; i++) gateway.attest(proof)
  gateway.attest(1, { sequence: 3, previousDigest: gateway.entries[1]!.digest })
  gateway.attest(2, { sequence: 5 })
  gateway.attest(3, { previousDigest: 'ee'.repeat(32) })
  gateway.attest(5, { sequence: 2, previousDigest: gateway.entries[0]!.digest })
  gateway.attest(4)
  await gateway.publish()
  const alarms = await runRound()
  expect(alarms.map(({ kind, message }) => [kind, message])).toEqual([
    ['broken_chain', 'entry 12: another statement 3 comes after it'],
    ['broken_chain', 'entry 13: the log has no statement 4 before statement 5'],
    ['broken_chain', 'entry 14: statement 4 does not follow the previous statement in the log'],
    ['broken_chain', 'entry 15: the log has no statement 1 before statement 2'],
  ])
  // The chain cannot reveal that its first statement has no predecessor.
  const isProven = alarms.map((alarm) => checkAlarm(JSON.stringify(alarm), gateway.key).isProven)
  expect(isProven).toEqual([true, true, true, false])
  const [proof, ...statements] = alarms[0]!.evidence
  expectProof(gateway, proof!, 12)
  expect(statements.map((text) => JSON.parse(text))).toEqual([
    gateway.entries[2]!.envelope,
    gateway.entries[12]!.envelope,
  ])
  expect(await runRound()).toEqual(alarms)
})

it('MON-05 the monitor raises an alarm for missing statements until the gateway shows them', async () => {
  await using stack = await startMonitorStack()
  const { gateway, runRound } = stack
  for (const proof of [1, 2]) for (let i = 0; i < 2; i++) gateway.attest(proof)
  const [first, second] = [gateway.entries[0]!.envelope, gateway.entries[3]!.envelope]
  await gateway.publish()
  gateway.entries[0]!.envelope = null
  const alarms = await runRound()
  expect(alarms.map(({ kind, message }) => [kind, message])).toEqual([
    ['vanished_statement', 'entry 0: the gateway does not show the statement of this entry'],
  ])
  expectProof(gateway, alarms[0]!.evidence[0]!, 0)
  // Statements that were shown earlier: one disappears, and another is replaced.
  gateway.entries[3]!.envelope = { ...second!, body: { ...second!.body, file_count: 2, manifest_file_count: 2 } }
  expect((await runRound())[1]!.message).toBe('entry 3: the gateway shows a different statement than the log contains')
  gateway.entries[0]!.envelope = first
  gateway.entries[3]!.envelope = second
  expect((await runRound()).map(({ resolved_at }) => resolved_at)).toEqual([isoSeconds(NOW), isoSeconds(NOW)])
  gateway.entries[3]!.envelope = null
  expect((await runRound()).map(({ resolved_at }) => resolved_at)).toEqual([isoSeconds(NOW), null])
})

it('T-106 a statement that was missing when it was judged breaks no chain, even if its alarm is not stored', async () => {
  await using stack = await startMonitorStack()
  const { gateway, runRound, witness } = stack
  gateway.attest(1)
  const late = gateway.attest(1)
  const { envelope } = late
  late.envelope = null
  await gateway.publish()
  const { db } = witness.context.database
  const kind = 'vanished_statement' as const
  const row = { origin: gateway.origin, kind, message: '', evidence: '[]', raised_at: 0, resolved_at: null }
  const full = Array.from({ length: 1000 }, (_, i) => ({ ...row, cause: `${i}`.padStart(64, '0') }))
  await writable(db).insertInto('alarms').values(full).execute()
  expect(kindsOf(await runRound())).toContain('too_many')
  late.envelope = envelope
  gateway.attest(1)
  await gateway.publish()
  expect(kindsOf(await runRound())).not.toContain('broken_chain')
  gateway.attest(1, { previousDigest: 'ee'.repeat(32) })
  await gateway.publish()
  expect(kindsOf(await runRound())).toContain('broken_chain')
})

it('MON-06 the monitor raises an alarm for statements without the signature of a trusted key', async () => {
  await using stack = await startMonitorStack({ MONITOR_ANCHOR_SECONDS: '10000' })
  const { gateway, runRound, wait, witness } = stack
  const successor = ed25519Signer(new Uint8Array(32).fill(8))
  gateway.attest(1)
  await gateway.publish()
  expect(await runRound()).toEqual([])
  gateway.attest(1, {}, null)
  gateway.attest(2, {}, THIEF)
  const tampered = gateway.attest(3).envelope!
  tampered.signature = tampered.signature!.replace(/^../, (byte) => (byte === '00' ? '01' : '00'))
  gateway.attest(4, { fileCount: 2 })
  gateway.endorsements.push(endorsement(successor))
  gateway.attest(5, {}, successor)
  gateway.attest(1)
  const odd = { note: 'no statement' } as never
  gateway.add({ ...tampered, body: odd, statement_digest: statementDigest(odd) })
  // Entries that are not statements do not block the check of later anchors.
  for (const entry of gateway.entries) entry.anchor = { tx: '1' }
  await gateway.publish()
  const alarms = await runRound()
  expect(alarms.map(({ kind, message }) => [kind, message])).toEqual([
    ['bad_statement', 'entry 1: the statement is not signed by Ed25519'],
    ['bad_statement', 'entry 2: the key that signed is not among the pinned keys'],
    ['bad_statement', 'entry 3: none of the keys made the signature'],
    ['bad_statement', 'entry 4: manifest_file_count is below file_count'],
    ['bad_statement', 'entry 7: a statement has no field "note"'],
  ])
  const progress = await witness.context.database.db.selectFrom('monitored_logs').select('anchored').execute()
  expect(progress).toEqual([{ anchored: 8 }])

  // The time when a key was stolen: earlier statements are genuine.
  wait(1000)
  gateway.revocations.push(revocation(successor, NOW + 500))
  gateway.attest(8, { issuedAtUnix: NOW + 10 })
  gateway.attest(9, { issuedAtUnix: NOW + 600 })
  gateway.attest(5, { issuedAtUnix: NOW + 600 }, successor)
  await gateway.publish()
  const [revoked, ...more] = (await runRound()).slice(alarms.length)
  expect([revoked!.message, more]).toEqual([expect.stringMatching(/^entry 9: the key was revoked as of /), []])
})

it('MON-07 the monitor raises an alarm for statements with impossible dates', async () => {
  await using stack = await startMonitorStack({ MONITOR_TOLERANCE_SECONDS: '60' })
  const { gateway, wait, runRound } = stack
  // A first round cannot know how long an entry has been there.
  gateway.attest(1, { issuedAtUnix: NOW - 100_000 })
  await gateway.publish()
  expect(await runRound()).toEqual([])
  wait(1000)
  expect(await runRound()).toEqual([])
  wait(1000)
  gateway.attest(2, { issuedAtUnix: NOW + 900 })
  gateway.attest(3, { issuedAtUnix: NOW + 990 })
  gateway.attest(3, { issuedAtUnix: NOW + 980 })
  gateway.attest(4, { issuedAtUnix: NOW + 2050 })
  gateway.attest(5, { issuedAtUnix: NOW + 2100 })
  await gateway.publish()
  expect((await runRound()).map(({ kind, message }) => [kind, message.split(':')[0]])).toEqual([
    ['back_dated', 'entry 1'],
    ['back_dated', 'entry 3'],
    ['future_dated', 'entry 5'],
  ])
})

function change(gateway: TestGateway, index: number): void {
  const last = gateway.attest(99)
  gateway.entries.pop()
  gateway.entries[index] = last
}

async function anchorCheckpoint(gateway: TestGateway): Promise<void> {
  const root = await gateway.publish()
  const payload = { s: 'svc/log-anchor/v1', o: gateway.origin, n: gateway.entries.length, root }
  gateway.anchors.unshift({ chain: 'solana:test', tx: String(payload.n), payload })
}

function endorsement(successor: typeof SIGNER) {
  const body = {
    schema: KEY_ENDORSEMENT_SCHEMA,
    purpose: 'statement',
    audience: 'https://gateway.example',
    endorser: namedKey(toHex(SIGNER.publicKey)),
    endorsed: namedKey(toHex(successor.publicKey)),
    valid_from: isoSeconds(NOW),
    issued_at: isoSeconds(NOW),
  } as const
  return { ...signedChange(body, SIGNER.sign(endorsementMessage(body))) } as never
}

function revocation(by: typeof SIGNER, since: number) {
  const body = {
    schema: KEY_REVOCATION_SCHEMA,
    purpose: 'statement',
    audience: 'https://gateway.example',
    revoked: namedKey(toHex(SIGNER.publicKey)),
    revoked_by: namedKey(toHex(by.publicKey)),
    since: isoSeconds(since),
    issued_at: isoSeconds(since),
  } as const
  return { ...signedChange(body, by.sign(revocationMessage(body))) } as never
}

/** Verified like any reader would. */
function expectFork({ key }: TestGateway, [first, second, path]: readonly string[]): void {
  const [earlier, later] = [first, second].map((text) => readCheckpoint(text!))
  if (typeof earlier !== 'object' || typeof later !== 'object') throw new Error('no checkpoints')
  expect([earlier, later].map(({ note }) => isSignedBy(note, key))).toEqual([true, true])
  if (earlier.size === later.size) {
    expect(earlier.root).not.toEqual(later.root)
    return
  }
  const hashes = path!
    .trim()
    .split('\n')
    .map((line) => fromBase64(line)!)
  const roots = prefixRoots(earlier.size, later.size, hashes)
  expect(roots!.later).toEqual(later.root)
  expect(roots!.earlier).not.toEqual(earlier.root)
}

function expectProof({ key, entries }: TestGateway, text: string, index: number): void {
  const proof = readProof(text)
  if (typeof proof === 'string') throw new Error(proof)
  expect(proof.index).toBe(index)
  expect(isSignedBy(proof.checkpoint.note, key)).toBe(true)
  expect(isProvenEntry(proof, Buffer.from(entries[index]!.digest, 'hex'))).toBe(true)
}
