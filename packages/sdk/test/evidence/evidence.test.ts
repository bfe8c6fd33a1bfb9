import type { AttestAnswer, Attestation } from '@svc/api/attestations'
import type { VerifyAnswer } from '@svc/api/evidence'
import { evidenceBundle, redactedBundle } from '@svc/api/proofs'
import { statementSigner } from '@svc/devnet/services/statement-signer'
import { toHex } from '@svc/protocol/bytes'
import { type DsseEnvelope, dsseEnvelope, IN_TOTO_PAYLOAD_TYPE, preAuthEncoding } from '@svc/protocol/dsse'
import { issueStatement } from '@svc/protocol/evidence'
import { issuerKeyId } from '@svc/protocol/ids'
import { type Ed25519Signer, ed25519Signer, type TrustedKey } from '@svc/protocol/keys'
import { leafHash } from '@svc/protocol/merkle'
import { type SignedReceipt, signReceipt } from '@svc/protocol/receipt'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/client.ts'
import type { RedactedBundleOptions } from '../../src/evidence/read.ts'
import { type Journal, memoryJournal } from '../../src/journal.ts'
import type { Locker } from '../../src/lockers.ts'
import { endorsement, revocation } from '../key-changes.ts'
import { newEd25519, useTestbed } from '../lockers.ts'

const testbed = useTestbed()
const signer = newEd25519()
/** A locker with three files and a statement about them. */
let locker: Locker
let client: Client
let key: string
beforeAll(async () => {
  key = toHex(testbed.gateway.context.signers.statement.publicKey)
  locker = await testbed.locker(signer)
  client = testbed.client({ signer, pinnedKeys: [key] })
  await client.putMany(locker, [
    { filename: 'a.txt', bytes: Buffer.from('a') },
    { filename: 'b/c.txt', bytes: Buffer.from('c') },
    { filename: 'ü.txt', bytes: Buffer.from('u') },
  ])
  await client.attest(locker)
})

const untrue = { name: 'UntrueAnswer' }
const keyOf = (seed: number) => ed25519Signer(new Uint8Array(32).fill(seed))
const forger = keyOf(9)
const now = () => Math.floor(testbed.gateway.context.now() / 1000)

describe('attesting a locker', () => {
  it('STATE-10 ATT-22 returns a signed statement about its files, which the client verifies', async () => {
    const attestation = { file_count: 3, receipt_id: locker.receipt_id }
    expect(await client.attest(locker)).toMatchObject({ attestation, unchanged: true })
    expect((await client.metadata(locker)).attestation).toMatchObject({ status: 'computed' })
  })

  it('ATT-09 STATE-09 polls the queue until the statement is ready', async () => {
    const other = await testbed.locker(signer)
    await client.put(other, 'd.txt', Buffer.from('d'))
    let polls = 0
    const wait = async (ms: number) => {
      expect(ms).toBe(2000)
      if (++polls === 3) await testbed.gateway.context.queue.drain()
    }
    const pollingClient = testbed.client({ signer, pinnedKeys: [key] }, { wait })
    const { attestation, unchanged } = await pollingClient.attest(other, { queued: true })
    expect(attestation.files.map(({ filename }) => filename)).toEqual(['d.txt'])
    expect([polls, unchanged]).toEqual([3, true])
  })

  it('ATT-11 ATT-12 is followed by a push that returns why the statement was not published', async () => {
    const answer = await client.push(locker)
    expect(answer).toMatchObject({ ok: true, receipt_id: locker.receipt_id, status: 'skipped', anchor: null })
  })

  const changes: [string, (attestation: Attestation) => Partial<Attestation>][] = [
    ['for another receipt', () => ({ receipt_id: 'rcpt_0' })],
    ['without an envelope', () => ({ envelope: undefined as never })],
    ['with a file missing', ({ files }) => ({ files: files.slice(1) })],
    ['with another root', () => ({ merkle_root: `sha256:${'0'.repeat(64)}` })],
    [
      'with a changed envelope',
      ({ envelope }) => ({ envelope: { ...envelope!, body: { ...envelope!.body, sequence: 9 } } }),
    ],
    ['without a signature', ({ envelope }) => ({ envelope: { ...envelope!, signature: null, sig_alg: 'none' } })],
    ['signed by another key', (attestation) => ({ envelope: forgedBy(forger, attestation) })],
    [
      'signed by another key under the name of the right one',
      (attestation) => ({ envelope: { ...forgedBy(forger, attestation), issuer_pubkey: key } }),
    ],
  ]
  it.each(changes)('EVID-18 MERK-10 fails if the attestation is returned %s', async (_, change) => {
    lieAboutAttestation(change)
    await expect(client.attest(locker)).rejects.toMatchObject(untrue)
  })
})

describe('a gateway with a new key', () => {
  const next = keyOf(11)
  const recovery = keyOf(90)

  const endorsed = (
    of: Ed25519Signer,
    { audience = testbed.proxy.url, by = statementSigner(testbed.gateway.context) } = {},
  ) => endorsement({ audience, by, of, at: now() - 60 })

  /** Statements are signed by this key, and the list of keys has these changes. */
  function show(signedBy: Ed25519Signer, changes: { endorsements: object[]; revocations?: object[] }) {
    testbed.proxy.behave()
    lieAboutAttestation((attestation) => ({ envelope: forgedBy(signedBy, attestation) }))
    testbed.proxy.always(/v1\/keys/, { lie: (list: object) => ({ ...list, ...changes }) })
  }

  const reader = (journal: Journal, onWarning: (text: string) => void = () => {}) =>
    testbed.client({ signer, pinnedKeys: [key], recoveryKeys: [toHex(recovery.publicKey)], journal, onWarning })

  it('ADD-37 is trusted if the trusted key endorsed it, with a warning and a record in the journal', async () => {
    const journal = memoryJournal()
    const warnings: string[] = []
    const open = () => reader(journal, (text) => void warnings.push(text))
    const good = endorsed(next)
    const forged = { ...good, signature: '0'.repeat(128) }
    for (const endorsements of [[], [forged], [endorsed(next, { audience: 'https://other.example' })]]) {
      show(next, { endorsements })
      await expect(open().attest(locker)).rejects.toMatchObject(untrue)
    }
    expect(warnings).toEqual([])
    show(next, { endorsements: [good] })
    await open().attest(locker)
    expect(warnings).toEqual([expect.stringMatching(`HAS A NEW KEY.*${key} → ${toHex(next.publicKey)}`)])
    show(next, { endorsements: [] })
    await open().attest(locker)
    expect(warnings).toHaveLength(1)
    expect(await journal.get(`key changes ${testbed.proxy.url}`)).toContain(good.signature)
  })

  it('ADD-39 T-40 can revoke the old one, even among any number of invalid revocations', async () => {
    const journal = memoryJournal()
    const revoked = (of: Ed25519Signer, by: Ed25519Signer) =>
      revocation({ audience: testbed.proxy.url, by, of, at: now() - 3600 })
    const real = revoked(statementSigner(testbed.gateway.context), recovery)
    const junk = Array.from({ length: 70 }, (_, i) => keyOf(91 + i)).flatMap((one) => [
      revoked(one, one),
      { ...real, signature: toHex(one.sign(new Uint8Array(1))) },
    ])
    show(next, { endorsements: [endorsed(next)], revocations: junk })
    await reader(journal).attest(locker)
    await reader(journal).receipt(locker.receipt_id)
    const third = keyOf(12)
    show(third, { endorsements: [endorsed(third, { by: recovery })], revocations: [...junk, real] })
    await reader(journal).attest(locker)
    const message = expect.stringContaining('was revoked')
    await expect(reader(journal).receipt(locker.receipt_id)).rejects.toMatchObject({ ...untrue, message })
    const kept = await journal.get(`key changes ${testbed.proxy.url}`)
    expect(kept).toContain(real.signature)
    expect(kept).not.toContain(junk[1]!.signature)
  })
})

describe('reading evidence', () => {
  it('VER-01 MERK-19 requires no key, and the client verifies it', async () => {
    const reader = testbed.client({ pinnedKeys: [key] })
    const answer = await reader.verify(locker.receipt_id)
    expect(answer.verification).toMatchObject({ commitment_computed: 'passed', signature_valid: 'passed' })
    const proof = await reader.proof(locker.receipt_id, 'b/c.txt')
    expect(proof).toMatchObject({ signer: 'pinned', statement: { issuer_pubkey: key } })
    expect(proof.file_entry.filename).toBe('b/c.txt')
    expect((await reader.verify(locker.receipt_id, { sequence: 1 })).attestation?.evidence_seq).toBe(1)
  })

  it('MERK-19 refuses a proof that leads to another root or proves another file', async () => {
    const [a, c] = [await client.proof(locker.receipt_id, 'a.txt'), await client.proof(locker.receipt_id, 'b/c.txt')]
    for (const lie of [
      c,
      { ...a, leaf_hash: c.leaf_hash },
      { ...a, proof: [] },
      { ...a, proof: null },
      { ...a, leaf_index: 1 },
      { ...a, merkle_root: `sha256:${'0'.repeat(64)}` },
    ]) {
      testbed.proxy.plan(/merkle-proof/, { lie: () => lie })
      await expect(client.proof(locker.receipt_id, 'a.txt')).rejects.toMatchObject(untrue)
    }
  })

  it('MERK-19 EVID-18 verifies a proof with the signed statement of this receipt', async () => {
    const { receipt_id } = locker
    const file_entry = { filename: 'made-up.txt', size_bytes: 1, content_hash: `sha256:${'0'.repeat(64)}` }
    const leaf_hash = leafHash(file_entry)
    const merkle_root = `sha256:${leaf_hash}`
    const alone = { file_entry, leaf_hash, leaf_index: 0, merkle_root, proof: [], tree_depth: 0, file_count: 1 }
    const lie = (proof: object) => ({ ...proof, filename: file_entry.filename, ...alone })
    const ask = () => client.proof(receipt_id, file_entry.filename)
    const known = await client.proof(receipt_id, 'a.txt')
    testbed.proxy.always(/merkle-proof/, { answer: { status: 200, body: lie(known) } })
    await expect(ask()).rejects.toMatchObject(untrue)

    // Statements by an unknown key and of another receipt.
    const other = await testbed.locker(signer)
    await client.put(other, 'a.txt', Buffer.from('a'))
    const { attestation } = await client.attest(other)
    const lies = [forgedBy(forger, { envelope: known.statement } as Attestation), attestation.envelope!]
    for (const envelope of lies) {
      const answer = (list: { statements: object[] }) => ({
        ...list,
        statements: list.statements.map((one) => ({ ...one, envelope })),
      })
      testbed.proxy.behave()
      testbed.proxy.always(/statements/, { lie: answer })
      await expect(client.proof(receipt_id, 'a.txt')).rejects.toMatchObject(untrue)
    }
  })

  it('MERK-19 T-38 reports the signer of a proof as unknown without a pinned key or a signed statement', async () => {
    const { receipt_id } = locker
    const unpinned = testbed.client({ onWarning: () => {} })
    expect(await unpinned.proof(receipt_id, 'a.txt')).toMatchObject({
      signer: 'unknown',
      statement: { issuer_pubkey: key },
    })
    testbed.proxy.always(/statements/, { lie: (list: object) => ({ ...list, statements: [] }) })
    expect(await client.proof(receipt_id, 'a.txt')).toMatchObject({ signer: 'unknown', statement: null })
  })

  it('RCPT-01 RCPT-07 refuses a receipt that has another id or was changed', async () => {
    for (const change of [{ receipt_id: 'rcpt_0' }, { units: 99 }, { receipt_sig: '0'.repeat(128) }]) {
      testbed.proxy.plan(/receipts/, { lie: (receipt) => ({ ...receipt, ...change }) })
      await expect(client.receipt(locker.receipt_id)).rejects.toMatchObject(untrue)
    }
  })

  it('T-38 refuses a valid attestation with another receipt or with one of another proof', async () => {
    const statement = statementSigner(testbed.gateway.context)
    const other = await client.receipt((await testbed.locker(signer)).receipt_id)
    const lies: ((answer: VerifyAnswer) => object)[] = [
      () => other,
      ({ receipt }) => signReceipt({ ...receipt, proof_id: '0f'.repeat(16) }, statement),
      ({ receipt }) => ({ ...receipt, units: 1.5 }),
    ]
    for (const lie of lies) {
      testbed.proxy.plan(/storage\/verify/, { lie: (answer: VerifyAnswer) => ({ ...answer, receipt: lie(answer) }) })
      await expect(client.verify(locker.receipt_id)).rejects.toMatchObject(untrue)
    }
    const { proof_id: _, ...older } = await client.receipt(locker.receipt_id)
    const lie = (answer: VerifyAnswer) => ({ ...answer, receipt: signReceipt(older, statement) })
    testbed.proxy.plan(/storage\/verify/, { lie })
    expect(await client.verify(locker.receipt_id)).toMatchObject({ verified: true })
  })

  it('ADD-07 RCPT-08 trusts a key only for its use and its period', async () => {
    const always = { publicKeyHex: key, validFrom: null, validTo: null }
    const readWith = (...pinnedKeys: TrustedKey[]) => testbed.client({ pinnedKeys }).receipt(locker.receipt_id)
    await readWith({ ...always, use: 'receipt' })
    await readWith({ ...always, use: null, validTo: now() - 60 })
    const retired = { ...always, use: 'receipt', validTo: now() - 86_400 }
    for (const one of [{ ...always, use: 'evidence-envelope' }, retired])
      await expect(readWith(one)).rejects.toMatchObject({ ...untrue, message: expect.stringContaining('time and use') })
  })

  it('T-38 ADD-07 trusts the keys that the gateway showed first, with a warning, and reads records of older clients', async () => {
    const journal = memoryJournal()
    const baseUrl = testbed.proxy.url
    const warnings: string[] = []
    const reader = () => testbed.client({ journal, onWarning: (text) => void warnings.push(text) })
    const read = () => reader().receipt(locker.receipt_id)
    await read()
    const kept = (await journal.get(`keys ${baseUrl}`))!
    expect(JSON.parse(kept)[0]).toMatchObject({ publicKeyHex: key, use: 'receipt', validTo: null })
    testbed.proxy.plan(/receipts/, { lie: (receipt: SignedReceipt) => signReceipt(receipt, forger) })
    testbed.proxy.always(/keys/, { lie: (list) => ({ ...list, keys: [{ public_key_hex: toHex(forger.publicKey) }] }) })
    await expect(read()).rejects.toMatchObject(untrue)
    await journal.put(`keys ${baseUrl}`, JSON.stringify([key]), kept)
    await read()
    expect(warnings).toEqual([expect.stringContaining(key)])
  })

  /** The streamed bytes of a bundle. */
  async function streamed(write: (target: WritableStream<Uint8Array>) => Promise<void>): Promise<unknown> {
    const chunks: Uint8Array[] = []
    await write(new WritableStream({ write: (chunk) => void chunks.push(chunk) }))
    return JSON.parse(Buffer.concat(chunks).toString())
  }

  it('VER-12 VER-13 streams a bundle to its destination', async () => {
    const { receipt_id } = locker
    const { body } = await client.call(evidenceBundle, { query: { receipt_id } })
    expect(await streamed((target) => client.bundle(receipt_id, target))).toEqual(body)
    const nothing = client.bundle('rcpt_0', new WritableStream())
    await expect(nothing).rejects.toMatchObject({ code: 'receipt_not_found' })
  })

  it.each<[string, RedactedBundleOptions, object]>([
    ['the chosen files', { filenames: ['a.txt', 'ü.txt'] }, { filename: ['a.txt', 'ü.txt'] }],
    ['the names of none', { sequence: 1 }, { sequence: 1 }],
  ])('ADD-18 streams a redacted bundle with %s', async (_, options, query) => {
    const { receipt_id } = locker
    const { body } = await client.call(redactedBundle, { query: { receipt_id, ...query } })
    expect(await streamed((target) => client.redactedBundle(receipt_id, target, options))).toEqual(body)
    expect(body.files?.map(({ filename }) => filename)).toEqual(options.filenames)
  })

  it('ADD-18 T-33 rejects a redacted bundle that names the receipt', async () => {
    testbed.proxy.always(/redacted-bundle/, { lie: (body) => ({ ...body, note: `of ${locker.receipt_id}` }) })
    await expect(client.redactedBundle(locker.receipt_id, new WritableStream())).rejects.toMatchObject(untrue)
  })
})

describe('a statement for other verifiers', () => {
  it('DSSE-09 T-14 is returned only if a trusted key signed it and it is about the requested file', async () => {
    const { receipt_id } = locker
    const bundle = await client.dsse(receipt_id, { filename: 'a.txt', format: 'sigstore-bundle' })
    expect(bundle).toHaveProperty('verificationMaterial.publicKey.hint')
    const envelope = (await client.dsse(receipt_id, { sequence: 1 })) as DsseEnvelope
    const payload = Buffer.from(envelope.payload, 'base64')
    const keyid = issuerKeyId(toHex(forger.publicKey))
    const lies: DsseEnvelope[] = [
      { ...envelope, payload: payload.toString('base64').replace(/^./, 'f') },
      { ...envelope, payloadType: 'application/json' },
      { ...envelope, signatures: [{ ...envelope.signatures[0]!, keyid }] },
      dsseEnvelope(payload, { keyid, sig: forger.sign(preAuthEncoding(IN_TOTO_PAYLOAD_TYPE, payload)) }),
    ]
    for (const lie of lies) {
      testbed.proxy.plan(/dsse/, { lie: () => lie })
      await expect(client.dsse(receipt_id)).rejects.toMatchObject(untrue)
    }
    testbed.proxy.plan(/dsse/, { lie: () => envelope })
    await expect(client.dsse(receipt_id, { filename: 'ü.txt' })).rejects.toMatchObject(untrue)
    await expect(client.dsse(receipt_id, { filename: 'none' })).rejects.toMatchObject({ code: 'FILE_NOT_ATTESTED' })
  })
})

describe('removing a file', () => {
  it('FILE-16 succeeds even if the first answer is lost', async () => {
    await client.put(locker, 'gone', Buffer.from('x'))
    testbed.proxy.plan(/files\/gone/, { cut: 'answer' })
    expect(await client.remove(locker, 'gone')).toMatchObject({ deleted: true })
    await expect(client.remove(locker, 'gone')).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' })
  })
})

function lieAboutAttestation(change: (attestation: Attestation) => Partial<Attestation>): void {
  const lie = ({ attestation, ...answer }: AttestAnswer) => ({
    ...answer,
    attestation: attestation && { ...attestation, ...change(attestation) },
  })
  testbed.proxy.always(/attest|verify/, { lie })
}

/** The same statement, signed with another key. */
function forgedBy(forger: Ed25519Signer, { envelope }: Attestation): NonNullable<Attestation['envelope']> {
  const { body } = envelope!
  return issueStatement(
    {
      proofId: body.proof_id,
      sequence: body.sequence,
      previousDigest: body.prev_statement_digest,
      merkleRoot: body.merkle_root.slice(7),
      fileCount: body.file_count,
      manifestFileCount: body.manifest_file_count,
      totalBytes: BigInt(body.total_bytes),
      manifestDigest: body.manifest_digest,
      checkMode: body.check_mode,
      issuedAtUnix: body.issued_at_unix,
      nonce: body.nonce,
    },
    forger,
    'SVCGW_CONTENT_ENVELOPE_V2',
  )
}
