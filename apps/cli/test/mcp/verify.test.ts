import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FaultyProxy } from '@svc/devnet/faulty-proxy'
import { statementSigner } from '@svc/devnet/services/statement-signer'
import { type SignedReceipt, signReceipt } from '@svc/protocol/receipt'
import { beforeAll, describe, expect, it } from 'vitest'
import { codeOf, type TestServer, textOf } from './client.ts'
import { useShop } from './shop.ts'

const shop = useShop()
let server: TestServer
let receipt_id: string
let bundle: string
beforeAll(async () => {
  server = await shop.start('memory', 'solana', { SVC_GATEWAY: shop.market.proxy.url })
  receipt_id = await shop.locker()
  for (const name of ['a.txt', 'b.txt']) {
    await write(`files/${name}`, `the file ${name}`)
    await server.call('put_file', { receipt_id, filename: name, path: `files/${name}` })
  }
  await server.call('attest', { receipt_id })
  bundle = await (await fetch(bundleUrl())).text()
  await write('bundle.json', bundle)
})

const bundleUrl = () => `${shop.market.proxy.url}/v1/storage/evidence-bundle?receipt_id=${receipt_id}`

/** Writes a file below the root. */
async function write(path: string, content: string): Promise<void> {
  await mkdir(join(shop.desk.root, path, '..'), { recursive: true })
  await writeFile(join(shop.desk.root, path), content)
}

async function factsOf(input: object, by = server): Promise<Record<string, string>> {
  const { facts } = await by.call('verify', input)
  return Object.fromEntries((facts as { fact: string; value: string }[]).map(({ fact, value }) => [fact, value]))
}

const VALID = { merkle_root_matches: 'passed', signature_valid: 'passed', key_pinned: 'passed' }

describe('a bundle', () => {
  it('is verified from a file, with or without a folder of files, and from its URL at the gateway', async () => {
    expect(await factsOf({ path: 'bundle.json' })).toMatchObject({ ...VALID, files_match: 'not_checked' })
    expect(await factsOf({ path: 'bundle.json', folder: 'files' })).toMatchObject({ ...VALID, files_match: 'passed' })
    expect(await factsOf({ url: bundleUrl() })).toMatchObject(VALID)
    const { facts, verdict } = await server.call('verify', { path: 'bundle.json' })
    expect(verdict).toBe('verified')
    const text = textOf(await server.ask('verify', { path: 'bundle.json' }))
    expect(text).toMatch(/^VERIFIED: list of 2 files, signed by \S+ \(pinned\)/)
    for (const { fact } of facts as { fact: string }[]) expect(text.split(`\n${fact}: `), fact).toHaveLength(2)
    expect(text.match(/verified|signer_unknown/gi)).toHaveLength(1)
    for (const { fact, value, why, means } of facts as Record<string, string | null>[]) {
      expect(means, String(fact)).toMatch(/\.$/)
      expect(why === null, String(fact)).toBe(value === 'passed')
    }
  })

  it('ADD-18 is verified from its URL if it is redacted, and reported with what it leaves out', async () => {
    const url = `${shop.market.proxy.url}/v1/storage/redacted-bundle?receipt_id=${receipt_id}&filename=a.txt`
    const result = await server.ask('verify', { url })
    expect(result.structuredContent).toMatchObject({
      receipt_id: null,
      failed: [],
      left_out: [expect.stringContaining('1 of 2 files'), expect.stringContaining('receipt')],
    })
    expect(textOf(result)).toMatch(/inclusion_proven: passed(.*\n)*Left out: 1 of 2 files/)
  })

  it.each([
    ['sigstore', 'application/vnd.dev.sigstore.bundle.v0.3+json', 'a.txt'],
    ['dsse', 'application/vnd.dsse.envelope.v1+json', undefined],
  ])(
    'DSSE-09 names no receipt in the format for other verifiers (%s), and is verified here',
    async (format, media_type, filename) => {
      const made = await server.call('bundle', { receipt_id, format, ...(filename && { filename }) })
      const document = made.document as string
      expect(made).toMatchObject({ format, media_type, size_bytes: document.length })
      const envelope = JSON.parse(document).dsseEnvelope ?? JSON.parse(document)
      const payload = Buffer.from(envelope.payload, 'base64').toString()
      const subjects = JSON.parse(payload).subject.map(({ name }: { name: string }) => name)
      expect(subjects).toEqual(filename ? [filename] : ['a.txt', 'b.txt'])
      expect(payload).not.toContain(receipt_id)
      await write('other.json', document)
      const facts = { dsse_signed: 'passed', dsse_subjects_match: 'passed', inclusion_proven: 'passed' }
      expect(await factsOf({ path: 'other.json' })).toMatchObject(facts)
    },
  )

  it('DSSE-09 is verified as a stream if it is too long for an envelope', async () => {
    await write(
      'long.json',
      bundle.replace(/"files": ?\[/, (list) => list + ' '.repeat(1_100_000)),
    )
    expect(await factsOf({ path: 'long.json' })).toMatchObject(VALID)
  })

  it('fails only the affected facts if it was altered, and a file that is no bundle is rejected', async () => {
    await write('changed.json', bundle.replace('"a.txt"', '"A.txt"'))
    const { failed, verdict } = await server.call('verify', { path: 'changed.json' })
    expect([verdict, failed]).toEqual(['failed', expect.arrayContaining(['merkle_root_matches'])])
    expect(failed).not.toContain('signature_valid')
    const changed = textOf(await server.ask('verify', { path: 'changed.json' }))
    expect(changed).toMatch(/^FAILED: merkle_root_matches: /)
    expect(changed.match(/FAILED/g)).toHaveLength(1)
    await write('poem.txt', 'roses are red')
    const refused = { refused: { code: 'not_strict_json' }, facts: [] }
    const poem = await server.ask('verify', { path: 'poem.txt' })
    expect(poem.structuredContent).toMatchObject(refused)
    expect(textOf(poem)).toMatch(/^FAILED: this bundle cannot be checked: /)
  })

  it.each([
    ['a listed file that is a link', 'a.txt', '../originals/a.txt', 'passed'],
    ['a link to a file that is not listed', 'extra.txt', '../originals/a.txt', 'failed'],
    ['a link to a folder with files', 'more', '../originals', 'failed'],
    ['a link to its own folder', 'again', '.', 'failed'],
    ['a link to nothing', 'gone', '../nothing', 'failed'],
    ['a link out of the root', 'out', '/etc', 'failed'],
  ])('is compared with a folder that has %s', async (folder, link, target, files_match) => {
    for (const file of ['a.txt', 'b.txt'])
      for (const place of ['originals', folder]) await write(`${place}/${file}`, `the file ${file}`)
    const path = join(shop.desk.root, folder, link)
    await rm(path, { force: true })
    await symlink(target, path)
    const result = await server.ask('verify', { path: 'bundle.json', folder })
    const { facts } = result.structuredContent as { facts: object[] }
    expect(facts).toContainEqual(expect.objectContaining({ fact: 'files_match', value: files_match }))
    if (link === 'extra.txt') expect(textOf(result)).toMatch(/^FAILED: extra\.txt is not in the bundle \(files_match\)/)
  })

  it('leaves key_pinned unchecked if no key is pinned, and fails if another key is pinned', async () => {
    const withKey = async (SVC_KEYS: string, input: object) =>
      factsOf(input, await shop.start('memory', null, { SVC_KEYS }))
    expect(await withKey('', { path: 'bundle.json' })).toMatchObject({ key_pinned: 'not_checked' })
    const unpinned = await shop.start('memory', null, { SVC_KEYS: '' })
    expect(textOf(await unpinned.ask('verify', { path: 'bundle.json' }))).toMatch(
      /^CONSISTENT BUT SIGNER UNKNOWN: .*\(not pinned\)/,
    )
    const other = '3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29'
    expect(await withKey(other, { path: 'bundle.json' })).toMatchObject({ key_pinned: 'failed' })
    expect(await withKey(other, { receipt_id })).toMatchObject({ key_pinned: 'failed', receipt_signed: 'failed' })
  })
})

describe('a receipt', () => {
  const OTHER = `rcpt_${'1'.repeat(32)}`

  const RECEIPTS = /\/v1\/receipts\/[^/]+$/
  const altered = { lie: (body: object) => ({ ...body, paid_raw: '2' }) }
  const older = {
    lie: ({ proof_id: _, ...receipt }: SignedReceipt) =>
      signReceipt(receipt, statementSigner(shop.market.gateway.context)),
  }
  const denied = { network: 'n', tx_hash: 't', verified: false, matches: { payer_matches: false } }
  const unknown = { error: 'tx_not_found_on_chain', message: 'none' }

  it.each<[string, RegExp, Parameters<FaultyProxy['always']>[1], object]>([
    ['was altered', RECEIPTS, altered, { receipt_signed: 'failed', bundle_names_receipt: 'not_checked' }],
    [
      'names no proof, like older receipts',
      RECEIPTS,
      older,
      { receipt_signed: 'passed', bundle_names_receipt: 'not_checked' },
    ],
    ['was not paid', /verify-payment/, { answer: { status: 200, body: denied } }, { payment_on_chain: 'failed' }],
    [
      'cannot be found',
      /verify-payment/,
      { answer: { status: 502, body: unknown } },
      { payment_on_chain: 'unavailable' },
    ],
    [
      'comes with the bundle of another receipt',
      /evidence-bundle/,
      { lie: (body) => ({ ...body, receipt_id: OTHER }) },
      { bundle_names_receipt: 'failed' },
    ],
  ])('T-38 does not pass if it %s', async (_, path, fault, expected) => {
    shop.market.proxy.always(path, fault)
    expect(await factsOf({ receipt_id })).toMatchObject(expected)
  })

  it('T-38 has no verdict while there is no statement, unless the receipt is false', async () => {
    const receipt = { receipt_id: await shop.locker() }
    const nothing = await server.ask('verify', receipt)
    expect(nothing.structuredContent).toMatchObject({ verdict: null, statement: null, failed: [] })
    expect(textOf(nothing)).toMatch(/^NOTHING TO VERIFY: there is no statement yet/)
    shop.market.proxy.always(RECEIPTS, altered)
    const falsified = await server.ask('verify', receipt)
    expect(falsified.structuredContent).toMatchObject({ verdict: 'failed', failed: ['receipt_signed'] })
    expect(textOf(falsified)).toMatch(/^FAILED: receipt_signed: /)
  })

  it('T-38 is verified with the statement that `sequence` names, and with the fields that no fact covers', async () => {
    const verified = await server.call('verify', { receipt_id, sequence: 1 })
    expect(verified).toMatchObject({ failed: [], statement: { sequence: 1 } })
    const fields = ['receipt_id', 'network', 'verification', 'signing_keys', 'how_to_verify']
    expect(verified.unchecked).toEqual(fields)
    expect(await factsOf({ receipt_id })).toMatchObject({ ...VALID, bundle_names_receipt: 'passed' })
    expect(codeOf(await server.ask('verify', { receipt_id, sequence: 9 }))).toBe('statement_not_found')
  })
})
