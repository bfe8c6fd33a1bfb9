import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FaultyProxy } from '@svc/devnet/faulty-proxy'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { startProcess } from '@svc/devnet/start-process'
import { signReceipt } from '@svc/protocol/receipt'
import { seedLocker } from '@svc/testbed/seed-lockers'
import { statementSigner } from '@svc/testbed/statement-signer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RECEIPT_FACT_MEANINGS } from '../src/explain/facts.ts'
import { codeOf, type TestServer, textOf } from './client.ts'
import { openShop, type Shop } from './shop.ts'

const SVC = new URL('../../cli/bin/svc.mjs', import.meta.url)

let shop: Shop
let server: TestServer
let receipt_id: string
let bundle: string
beforeAll(async () => {
  shop = await openShop()
  server = await shop.start('memory', 'solana')
  receipt_id = (await seedLocker(shop.market.gateway.context, { owner: DEMO_PAYERS[0]!.address })).receipt_id
  const { root } = shop.desk
  await mkdir(join(root, 'files'))
  for (const name of ['a.txt', 'b.txt']) {
    await writeFile(join(root, 'files', name), `the file ${name}`)
    await server.call('put_file', { receipt_id, filename: name, path: `files/${name}` })
  }
  await server.call('attest', { receipt_id })
  bundle = await (await fetch(bundleUrl())).text()
  await writeFile(join(root, 'bundle.json'), bundle)
})
afterAll(() => shop.close())

const bundleUrl = () => `${shop.market.gateway.url}/v1/storage/evidence-bundle?receipt_id=${receipt_id}`

async function factsOf(input: object): Promise<Record<string, string>> {
  const { facts } = await server.call('verify', input)
  return Object.fromEntries((facts as { fact: string; value: string }[]).map(({ fact, value }) => [fact, value]))
}

const HOLDS = { merkle_root_matches: 'passed', signature_valid: 'passed', key_pinned: 'passed' }

describe('a bundle', () => {
  it('is verified from a file, with or without a folder of files', async () => {
    expect(await factsOf({ path: 'bundle.json' })).toMatchObject({ ...HOLDS, files_match: 'not_checked' })
    expect(await factsOf({ path: 'bundle.json', folder: 'files' })).toMatchObject({ ...HOLDS, files_match: 'passed' })
    expect((await server.call('verify', { path: 'bundle.json' })).verdict).toBe('verified')
  })

  it('is verified from its URL at the configured gateway', async () => {
    expect(await factsOf({ url: bundleUrl() })).toMatchObject(HOLDS)
  })

  it('ADD-18 that is redacted is verified from its URL, and reported with what it leaves out', async () => {
    const url = `${shop.market.gateway.url}/v1/storage/redacted-bundle?receipt_id=${receipt_id}&filename=a.txt`
    const result = await server.ask('verify', { url })
    expect(result.structuredContent).toMatchObject({
      receipt_id: null,
      failed: [],
      left_out: [expect.stringContaining('1 of 2 files'), expect.stringContaining('receipt')],
    })
    expect(textOf(result)).toMatch(/inclusion_proven: passed(.*\n)*Left out: 1 of 2 files/)
    expect(textOf(result)).toMatch(/merkle_root_matches: not_checked/)
  })

  it('LOG-55 for other verifiers is made of one file or of all, names no receipt, and is verified here', async () => {
    for (const [format, media] of [
      ['sigstore', 'application/vnd.dev.sigstore.bundle.v0.3+json'],
      ['dsse', 'application/vnd.dsse.envelope.v1+json'],
    ])
      for (const filename of ['a.txt', undefined]) {
        const made = await server.call('bundle', { receipt_id, format, ...(filename && { filename }) })
        const document = made.document as string
        expect(made).toMatchObject({ format, media_type: media, size_bytes: document.length })
        const envelope = JSON.parse(document).dsseEnvelope ?? JSON.parse(document)
        const payload = Buffer.from(envelope.payload, 'base64').toString()
        const subjects = JSON.parse(payload).subject.map(({ name }: { name: string }) => name)
        expect(subjects).toEqual(filename ? [filename] : ['a.txt', 'b.txt'])
        expect(payload).not.toContain(receipt_id)
        await writeFile(join(shop.desk.root, 'other.json'), document)
        const facts = await factsOf({ path: 'other.json' })
        expect(facts).toMatchObject({
          dsse_signed: 'passed',
          dsse_subjects_match: 'passed',
          inclusion_proven: 'passed',
        })
      }
    expect(await server.call('bundle', { receipt_id })).toMatchObject({ format: 'sigstore' })
  })

  it('LOG-55 for other verifiers fails, or is refused, where it was changed', async () => {
    const { document } = (await server.call('bundle', { receipt_id, format: 'dsse' })) as { document: string }
    const envelope = JSON.parse(document)
    envelope.signatures[0].sig = Buffer.alloc(64).toString('base64')
    await writeFile(join(shop.desk.root, 'forged.json'), JSON.stringify(envelope))
    expect(await server.call('verify', { path: 'forged.json' })).toMatchObject({ failed: ['dsse_signed'] })
    await writeFile(join(shop.desk.root, 'more.json'), JSON.stringify({ ...envelope, note: 'all is well' }))
    expect(await server.call('verify', { path: 'more.json' })).toMatchObject({ refused: { code: 'not_a_bundle' } })
    expect(codeOf(await server.ask('bundle', { receipt_id, filename: 'none.txt' }))).toBe('FILE_NOT_ATTESTED')
  })

  it('LOG-55 that is too long for an envelope is verified as it comes', async () => {
    const long = bundle.replace(/"files": ?\[/, (list) => list + ' '.repeat(1_100_000))
    expect(long.length).toBeGreaterThan(1_100_000)
    await writeFile(join(shop.desk.root, 'long.json'), long)
    expect(await factsOf({ path: 'long.json' })).toMatchObject(HOLDS)
  })

  it('is reported as facts, each with its meaning and the reason if it did not pass', async () => {
    const { facts } = await server.call('verify', { path: 'bundle.json' })
    for (const { fact, value, why, means } of facts as Record<string, string | null>[]) {
      expect(means, String(fact)).toMatch(/\.$/)
      expect(why === null, String(fact)).toBe(value === 'passed')
    }
  })

  it('that was altered fails only the facts that no longer hold', async () => {
    await writeFile(join(shop.desk.root, 'changed.json'), bundle.replace('"a.txt"', '"A.txt"'))
    const { failed, verdict } = await server.call('verify', { path: 'changed.json' })
    expect(verdict).toBe('failed')
    expect(failed).toContain('merkle_root_matches')
    expect(failed).not.toContain('signature_valid')
  })

  it('with an extra file in its folder fails files_match and names the file', async () => {
    await writeFile(join(shop.desk.root, 'files', 'c.txt'), 'not in the bundle')
    const result = await server.ask('verify', { path: 'bundle.json', folder: 'files' })
    expect(result.structuredContent).toMatchObject({ failed: ['files_match'] })
    expect(textOf(result)).toContain('"c.txt" not in the bundle')
  })

  const LINKED_FOLDERS: Record<string, { link: string; to: string; verdict: string }> = {
    'a listed file that is a link': { link: 'a.txt', to: '../originals/a.txt', verdict: 'passed' },
    'a link to a file that is not listed': { link: 'extra.txt', to: '../originals/a.txt', verdict: 'failed' },
    'a link to a folder with files': { link: 'more', to: '../originals', verdict: 'failed' },
    'a link to its own folder': { link: 'again', to: '.', verdict: 'failed' },
    'a link to nothing': { link: 'gone', to: '../nothing', verdict: 'failed' },
    'a link out of the root': { link: 'out', to: '/etc', verdict: 'failed' },
  }

  it.each(Object.entries(LINKED_FOLDERS))(
    'with %s in its folder gets the same result as from svc verify',
    { tags: ['nightly'] },
    async (name, { link, to, verdict }) => {
      const { root } = shop.desk
      const folder = name.replaceAll(' ', '-')
      await mkdir(join(root, 'originals'), { recursive: true })
      await mkdir(join(root, folder))
      for (const file of ['a.txt', 'b.txt']) {
        await writeFile(join(root, 'originals', file), `the file ${file}`)
        await writeFile(join(root, folder, file), `the file ${file}`)
      }
      await rm(join(root, folder, link), { force: true })
      await symlink(to, join(root, folder, link))
      expect(await factsOf({ path: 'bundle.json', folder })).toMatchObject({ ...HOLDS, files_match: verdict })
      const args = ['verify', 'bundle.json', '--dir', folder, '--json']
      const { stdout } = await startProcess(SVC, { args, cwd: root, env: { HOME: root } }).ended
      expect(JSON.parse(stdout).bundles[0].facts.files_match.value).toBe(verdict)
    },
  )

  it('that is not a bundle is refused as a finding, not as an error', async () => {
    await writeFile(join(shop.desk.root, 'poem.txt'), 'roses are red')
    const { refused, facts } = await server.call('verify', { path: 'poem.txt' })
    expect(refused).toMatchObject({ code: 'not_strict_json' })
    expect(facts).toEqual([])
  })

  it('leaves key_pinned unchecked if no key is pinned', async () => {
    const trusting = await shop.start('memory', null, { SVC_KEYS: '' })
    const { facts } = await trusting.call('verify', { path: 'bundle.json' })
    expect(facts).toContainEqual(expect.objectContaining({ fact: 'key_pinned', value: 'not_checked' }))
  })

  it('signed by a key that is not pinned fails', async () => {
    const strict = await shop.start('memory', null, {
      SVC_KEYS: '3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29',
    })
    const { failed } = await strict.call('verify', { path: 'bundle.json' })
    expect(failed).toContain('key_pinned')
    const ofReceipt = await strict.call('verify', { receipt_id })
    expect(ofReceipt.failed).toEqual(expect.arrayContaining(['receipt_signed', 'key_pinned']))
  })
})

describe('a receipt', () => {
  it('that does not exist is reported as receipt_not_found', async () => {
    expect(codeOf(await server.ask('verify', { receipt_id: `rcpt_${'0'.repeat(32)}` }))).toBe('receipt_not_found')
  })

  it('does not pass with the bundle of another receipt', async () => {
    const { proxy } = shop.market
    proxy.always(/evidence-bundle/, { lie: (answer) => ({ ...answer, receipt_id: `rcpt_${'1'.repeat(32)}` }) })
    const lied = await shop.start('memory', null, { SVC_GATEWAY: proxy.url })
    expect((await lied.call('verify', { receipt_id })).failed).toEqual(['bundle_names_receipt'])
  })

  type ReceiptFact = keyof typeof RECEIPT_FACT_MEANINGS
  type Story = [path: RegExp, fault: Parameters<FaultyProxy['always']>[1]]

  const ALTERED: Story = [/\/v1\/receipts\/[^/]+$/, { lie: (body) => ({ ...body, paid_raw: '2' }) }]
  const DENIED = { network: 'n', tx_hash: 't', verified: false, matches: { payer_matches: false } }
  const OTHER = `rcpt_${'1'.repeat(32)}`

  /** What a gateway does so that a fact fails, and so that it is not checked; or why it always is. */
  const STORIES: Record<ReceiptFact, { fails: Story; open: { value: string; story: Story } | { never: string } }> = {
    receipt_signed: { fails: ALTERED, open: { never: 'without a receipt there is no answer at all' } },
    payment_on_chain: {
      fails: [/verify-payment/, { answer: { status: 200, body: DENIED } }],
      open: {
        value: 'unavailable',
        story: [
          /verify-payment/,
          { answer: { status: 502, body: { error: 'tx_not_found_on_chain', message: 'none' } } },
        ],
      },
    },
    bundle_names_receipt: {
      fails: [/evidence-bundle/, { lie: (body) => ({ ...body, receipt_id: OTHER }) }],
      open: { value: 'not_checked', story: ALTERED },
    },
  }

  it.each(Object.keys(STORIES) as ReceiptFact[])('T-38 %s can fail, and says when it is not checked', async (fact) => {
    const { proxy } = shop.market
    const lied = await shop.start('memory', null, { SVC_GATEWAY: proxy.url })
    const valueIn = async (story: Story) => {
      proxy.behave()
      proxy.always(...story)
      const { facts } = (await lied.call('verify', { receipt_id })) as { facts: { fact: string; value: string }[] }
      proxy.behave()
      return facts.find((one) => one.fact === fact)?.value
    }
    const { fails, open } = STORIES[fact]
    expect(await valueIn(fails)).toBe('failed')
    if ('story' in open) expect(await valueIn(open.story)).toBe(open.value)
  })

  it('T-38 T-51 of before receipts named a proof is not linked to any bundle', async () => {
    const { context } = shop.market.gateway
    const older = await seedLocker(context, { owner: DEMO_PAYERS[0]!.address })
    const receipts = context.database.db.selectFrom('receipts').select('receipt')
    const stored = await receipts.where('receipt_id', '=', older.receipt_id).executeTakeFirstOrThrow()
    const { proof_id: _, receipt_sig, receipt_signer_pubkey, ...unsigned } = JSON.parse(stored.receipt)
    const receipt = JSON.stringify(signReceipt(unsigned, statementSigner(context)))
    const row = context.database.db.updateTable('receipts').where('receipt_id', '=', older.receipt_id)
    await row.set({ receipt }).execute()
    await server.call('put_file', { receipt_id: older.receipt_id, filename: 'a.txt', path: 'files/a.txt' })
    await server.call('attest', { receipt_id: older.receipt_id })
    const facts = await factsOf({ receipt_id: older.receipt_id })
    expect(facts).toMatchObject({ ...HOLDS, receipt_signed: 'passed', bundle_names_receipt: 'not_checked' })
    expect(await factsOf({ receipt_id })).toMatchObject({ ...HOLDS, bundle_names_receipt: 'passed' })
  })

  it('T-51 is shown with the fields of its bundle that no fact covers', async () => {
    const { unchecked } = await server.call('verify', { receipt_id })
    expect(unchecked).toEqual(['receipt_id', 'network', 'verification', 'signing_keys', 'how_to_verify'])
  })

  it('is verified with the statement that `sequence` names', async () => {
    expect(await server.call('verify', { receipt_id, sequence: 1 })).toMatchObject({ statement: { sequence: 1 } })
    expect(codeOf(await server.ask('verify', { receipt_id, sequence: 9 }))).toBe('statement_not_found')
  })
})
