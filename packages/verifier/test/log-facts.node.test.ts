import { fromUtf8, utf8 } from '@svc/protocol/bytes'
import { testKey } from '@svc/protocol/test/transparency/keys'
import { formatKey } from '@svc/protocol/transparency/note'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import { LOG_FACTS } from '../src/facts.ts'
import { readPinnedKeys } from '../src/pinned-keys.ts'
import type { Given } from '../src/verify-bundle.ts'
import { CASES, givenOf, packBytes, verified } from './pack.ts'

const caseOf = (name: string) => CASES.find((one) => one.name === name)!

async function verifiedCase(name: string) {
  const { file, given } = caseOf(name)
  return verified([await packBytes(file)], await givenOf(given))
}

const failedWith = (why: string) => ({ value: 'failed', why: expect.stringContaining(why) })

const document = JSON.parse(fromUtf8(await packBytes('log.json'))!)
const given = await givenOf(caseOf('log').given)
const offline: Given = await givenOf(caseOf('log-offline').given)

async function verifiedWith(log: unknown) {
  return verified([utf8(JSON.stringify({ ...document, log }))], offline)
}

describe('a bundle with a proof of a log', () => {
  it.each<[id: string, name: string, fact: (typeof LOG_FACTS)[number], value: string, why?: string]>([
    ['LOG-30', 'log', 'log_included', 'passed'],
    ['LOG-30', 'log-key', 'log_included', 'passed'],
    ['LOG-30', 'log-unknown', 'log_included', 'not_checked'],
    ['LOG-30', 'log-other-entry', 'log_included', 'failed', 'does not lead'],
    ['LOG-30', 'log-impostor', 'log_included', 'failed', 'none of the given logs'],
    ['LOG-30', 'log-of-v1', 'log_included', 'failed', 'no statement'],
    ['LOG-31', 'log-witness-twice', 'log_cosigned', 'failed', '1 of 3 witnesses'],
    ['LOG-31', 'log-quorum-none', 'log_cosigned', 'not_checked'],
    ['LOG-32', 'log', 'log_anchored', 'passed'],
    ['LOG-32', 'log-offline', 'log_anchored', 'not_checked', 'no node was asked'],
    ['LOG-32', 'log-anchor-payload-offline', 'log_anchored', 'failed', 'another checkpoint'],
    ['LOG-32', 'log-anchor-no-memo', 'log_anchored', 'failed', 'no memo'],
    ['LOG-32', 'log-node-down', 'log_anchored', 'unavailable'],
  ])('%s in the case %s has %s as %s', async (_, name, fact, value, why) => {
    const found = (await verifiedCase(name)).facts[fact]
    expect(found).toMatchObject(why ? { value, why: expect.stringContaining(why) } : { value })
  })

  it('LOG-45 LOG-34 uses the log of a pinned key list, unless the caller names one, and does not require a proof', async () => {
    const { pinnedLogs = [], ...rest } = await givenOf(caseOf('log-key').given)
    const logs = pinnedLogs.map((key) => ({ origin: key.name, vkey: formatKey(key) }))
    const read = readPinnedKeys(JSON.stringify({ ...vectors.signing_keys_example, logs }))
    if (!read.ok) throw new Error(read.problem)
    expect(read.logs).toEqual(pinnedLogs)
    const included = async (more: Given, bundle = document) =>
      (await verified([utf8(JSON.stringify(bundle))], { ...rest, ...more })).facts.log_included
    expect(await included({ listed: read })).toEqual({ value: 'passed' })
    const other = testKey('other.example/log', 'log').key
    expect(await included({ listed: { ...read, logs: [other] } })).toMatchObject(failedWith('none of the given logs'))
    expect(await included({ listed: read, pinnedLogs: [other] })).toMatchObject(failedWith('none of the given logs'))
    expect(await included({ listed: read }, { ...document, log: undefined })).toBeUndefined()
    for (const [vkey, problem] of [
      ['x', 'a key is written as'],
      [formatKey(testKey('w', 'cosigner').key), 'the key of a witness'],
      [7, 'it has no vkey'],
    ])
      expect(readPinnedKeys(JSON.stringify({ ...vectors.signing_keys_example, logs: [{ vkey }] }))).toMatchObject({
        ok: false,
        problem: expect.stringContaining(String(problem)),
      })
  })

  it('LOG-31 passes with a quorum of witnesses, and reports their names and times', async () => {
    const { facts, log } = await verifiedCase('log')
    expect(facts.log_cosigned).toEqual({ value: 'passed' })
    expect(log).toEqual({
      origin: 'gateway.example/log',
      index: 4,
      size: 7,
      cosigned: ['w1', 'w2'].map((name) => ({ name: `${name}.example/witness`, time: 1_781_222_401 })),
    })
    expect((await verifiedCase('log-bad-cosignature')).log?.cosigned).toHaveLength(2)
    expect((await verifiedCase('log-key')).log?.cosigned).toEqual([])
  })

  it('LOG-32 proves when a statement of a revoked key was made', async () => {
    expect((await verifiedCase('keys-revoked-after-log')).facts.key_pinned).toMatchObject({
      value: 'passed',
      why: expect.stringContaining('was on chain before'),
    })
    expect((await verifiedCase('keys-revoked-before-log')).failed).toEqual(['key_pinned'])
  })

  it('LOG-34 has no log facts without a proof, unless the caller requests them', async () => {
    const without = await verifiedCase('v2')
    for (const fact of LOG_FACTS) expect(without.facts).not.toHaveProperty(fact)
    expect(without.log).toBeNull()
    const asked = await verifiedCase('log-missing')
    for (const fact of LOG_FACTS) expect(asked.facts[fact]).toMatchObject({ value: 'not_checked' })
  })

  it('LOG-34 T-38 fails for anything that is not a proof, without an exception or a refusal', {
    tags: ['nightly'],
  }, async () => {
    const text: string = document.log.proof
    const hostile = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }).filter((value) => value !== null),
      fc.record({ proof: fc.jsonValue({ maxDepth: 2 }), anchor: fc.jsonValue({ maxDepth: 2 }) }),
      fc.nat(text.length - 1).map((at) => ({ proof: text.slice(0, at) + text.slice(at + 1), anchor: null })),
    )
    await fc.assert(
      fc.asyncProperty(hostile, async (log) => {
        const { failed } = await verifiedWith(log)
        expect(failed.length).toBeGreaterThan(0)
        for (const name of failed) expect(LOG_FACTS).toContain(name)
      }),
      { numRuns: 150 },
    )
  })

  it('T-38 uses keys of logs and witnesses only from the caller, never from the bundle', async () => {
    const { facts, unchecked } = await verified([utf8(JSON.stringify(document))], { rpc: given.rpc! })
    expect(facts).toMatchObject({
      log_included: { value: 'not_checked' },
      log_cosigned: { value: 'not_checked' },
      log_anchored: { value: 'passed' },
    })
    expect(unchecked).toContain('log.proof')
    const added = { ...document.log, policy: 'quorum none\n', anchor: { ...document.log.anchor, note: 'x' } }
    const { unchecked: more } = await verified([utf8(JSON.stringify({ ...document, log: added }))], given)
    expect(more).toEqual(expect.arrayContaining(['log.policy', 'log.anchor.note']))
  })
})
