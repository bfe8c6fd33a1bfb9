import { toHex } from '@svc/protocol/bytes'
import { type EvidenceEnvelope, issueStatement } from '@svc/protocol/evidence'
import { ed25519Signer } from '@svc/protocol/keys'
import { DEFAULT_DOMAIN_TAG } from '@svc/protocol/names'
import { sha256Hex } from '@svc/protocol/sha256'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CheckedStatement, checkStatement, historyNodes } from '../src/pages/verify/pictures/history-chain.ts'

const signer = (seed: number) => ed25519Signer(new Uint8Array(32).fill(seed))

function chainOf(length: number, { seed = 1, proofId = '00'.repeat(16) } = {}): EvidenceEnvelope[] {
  const chain: EvidenceEnvelope[] = []
  for (let sequence = 1; sequence <= length; sequence++) {
    const statement = {
      proofId,
      sequence,
      previousDigest: chain.at(-1)?.statement_digest ?? null,
      merkleRoot: sha256Hex(String(sequence)),
      fileCount: sequence,
      manifestFileCount: sequence,
      totalBytes: 10n,
      manifestDigest: `sha256:${sha256Hex('list')}`,
      checkMode: 'recorded_hashes' as const,
      issuedAtUnix: 1_700_000_000 + sequence * 60,
      nonce: '00'.repeat(16),
    }
    chain.push(issueStatement(statement, signer(seed), DEFAULT_DOMAIN_TAG))
  }
  return chain
}

const listed = (envelope: EvidenceEnvelope, more = {}) => {
  const { body, statement_digest } = envelope
  const { sequence, prev_statement_digest, merkle_root, file_count, total_bytes, issued_at } = body
  const fields = { sequence, prev_statement_digest, merkle_root, file_count, total_bytes, issued_at }
  return { ...fields, statement_digest, anchor: null, envelope, ...more }
}

describe('the chain of statements', () => {
  const chain = chainOf(4)
  const check = (envelopes: readonly EvidenceEnvelope[], given = {}) =>
    envelopes.map((envelope) => checkStatement(listed(envelope), given))
  const drawn = (checked: readonly CheckedStatement[], of: Partial<Parameters<typeof historyNodes>[1]> = {}) =>
    historyNodes(checked, { shown: null, isAll: true, ...of }).map(({ sequence, state, link, remarks }) => [
      sequence,
      state,
      link.kind,
      ...remarks,
    ])
  const at = (i: number) => chain[i] as EvidenceEnvelope

  it('T-38 is linked where each digest, signature and link was checked, for any order of the list', () => {
    expect(drawn(check(chain.toReversed()))).toEqual([
      [1, 'signed', 'first'],
      [2, 'signed', 'linked'],
      [3, 'signed', 'linked'],
      [4, 'signed', 'linked'],
    ])
    const pinned = (seed: number) => ({
      pinnedKeys: [{ publicKeyHex: toHex(signer(seed).publicKey), use: null, validFrom: null, validTo: null }],
    })
    expect(drawn(check(chain, pinned(1))).map(([, state]) => state)).toEqual(Array(4).fill('pinned'))
    expect(drawn(check(chain, pinned(2))).map(([, state]) => state)).toEqual(Array(4).fill('failed'))
    const shown = { proofId: '00'.repeat(16), sequence: 2, digest: at(1).statement_digest }
    expect(drawn(check(chain), { shown })[1]).toEqual([2, 'signed', 'linked', 'here'])
  })

  it('T-38 shows gaps, missing statements and unchecked ones as such', () => {
    expect(drawn(check([at(0), at(3)]))).toEqual([
      [1, 'signed', 'first'],
      [4, 'signed', 'gap'],
    ])
    expect(drawn(check([at(2), at(3)]), { isAll: false })[0]).toEqual([3, 'signed', 'earlier'])
    expect(drawn(check([at(2), at(3)]))[0]).toEqual([3, 'signed', 'gap'])
    const unsigned = chain.map((envelope) => checkStatement(listed(envelope, { envelope: undefined }), {}))
    expect(drawn(unsigned)).toEqual([
      [1, 'listed', 'listed', 'listedOnly'],
      ...[2, 3, 4].map((sequence) => [sequence, 'listed', 'listed', 'listedOnly']),
    ])
    expect(drawn([...check([at(0)]), ...unsigned.slice(1)])[1]).toEqual([2, 'listed', 'listed', 'listedOnly'])
  })

  it('T-38 draws a changed, foreign, forked or mislabelled statement as broken', () => {
    const changed = { ...at(1), body: { ...at(1).body, file_count: 7, manifest_file_count: 7 } }
    expect(drawn(check([at(0), changed, at(2), at(3)]))).toEqual([
      [1, 'signed', 'first'],
      [2, 'failed', 'broken'],
      [3, 'signed', 'broken'],
      [4, 'signed', 'linked'],
    ])
    const ofOther = chainOf(4, { seed: 2 })
    expect(drawn(check([at(0), at(1), ofOther[2] as EvidenceEnvelope])).at(-1)).toEqual([3, 'signed', 'broken'])
    const foreign = chainOf(1, { proofId: '11'.repeat(16) })
    const shown = { proofId: '00'.repeat(16), sequence: 1, digest: at(0).statement_digest }
    expect(drawn(check(foreign), { shown })).toEqual([[1, 'failed', 'first', 'foreign']])
    expect(drawn(check(ofOther.slice(0, 1)), { shown })).toEqual([[1, 'failed', 'first', 'otherHere']])
    const unsigned = { ...at(1), signature: null, sig_alg: 'none' as const }
    expect(drawn(check([at(0), unsigned])).at(-1)).toEqual([2, 'failed', 'broken'])
    const mislabelled = checkStatement(listed(at(1), { sequence: 9 }), {})
    expect(drawn([...check([at(0)]), mislabelled]).at(-1)).toEqual([2, 'failed', 'linked', 'mislabelled'])
    expect(drawn(check([at(0), at(0)])).at(-1)).toEqual([1, 'signed', 'broken'])
    const anchor = { chain: 'x', tx: 'y', slot: 1, block_time: 1e300, statement_digest: at(1).statement_digest }
    const [node] = historyNodes([checkStatement(listed(at(0), { anchor }), {})], { shown: null, isAll: true })
    expect(node?.anchor).toEqual({ network: 'x', tx: 'y', slot: 1, time: null, isOfStatement: false })
  })

  it('T-38 is drawn for any answer of a gateway', () => {
    const anything = fc.oneof(
      fc.anything(),
      fc.record({
        sequence: fc.anything(),
        statement_digest: fc.anything(),
        anchor: fc.anything(),
        envelope: fc.object(),
      }),
    )
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 5 }), (answers) => {
        const nodes = historyNodes(
          answers.map((one) => checkStatement(one, {})),
          { shown: null, isAll: true },
        )
        expect(
          nodes.filter(({ state, link }) => state === 'pinned' || state === 'signed' || link.kind === 'linked'),
        ).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})
