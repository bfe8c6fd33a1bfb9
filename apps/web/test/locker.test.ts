import { hash } from 'node:crypto'
import { fileUrls } from '@svc/api/files'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS, type DevKey } from '@svc/devnet/primary-chain/dev-accounts'
import { toBase58 } from '@svc/protocol/bytes'
import { createClient, type Locker } from '@svc/sdk'
import { type Signer, signerFromEvmKey, signerFromSeed } from '@svc/sdk/signers'
import { seedLocker, seedReceipt } from '@svc/testbed/seed-lockers'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { usageWarnings } from '../src/pages/locker/usage-warnings.ts'
import { type InjectedWallet, injectEvmWallet, injectStandardWallet } from './injected-wallets.ts'
import { openSite, type Site } from './site.ts'
import { expectCalm, expectGoodLooks, visit } from './visit.ts'

/** Of a first visit, compressed; wallets and signing come later. */
const FIRST_LOAD_BYTES = 60_000
const PAYER = DEMO_PAYERS[1] as DevKey
const EVM_PAYER = DEV_PAYERS[1] as (typeof DEV_PAYERS)[number]
const EVERYBODY = (DEMO_PAYERS[3] as DevKey).address
/** Characters that turn the text around them, and markup. */
const HOSTILE_NAME = 'tax\u202Egnp.\u202C<img src=x>'

let site: Site
beforeAll(async () => {
  // The pages show what is final.
  site = await openSite({ landing: 'at once' })
})
afterAll(() => site.close())

const clientOf = (signer: Signer) => createClient({ baseUrl: site.url, signer, onWarning: () => {} })
const payerSigner = signerFromSeed(PAYER.privateKeyBytes)
/** A locker of the payer, opened as a client opens it. */
async function newLocker(signer: Signer = payerSigner, tags: string[] = [], files = ['report.txt']): Promise<Locker> {
  const { receipt_id } = await seedReceipt(site.gateway.context, { owner: signer.address })
  const client = clientOf(signer)
  const { locker_id } = await client.provision(receipt_id, { tags })
  for (const file of files) await client.put({ locker_id, receipt_id }, file, new TextEncoder().encode(file))
  return { locker_id, receipt_id }
}

async function operatorsOf(locker: Locker): Promise<string[]> {
  return (await clientOf(payerSigner).metadata(locker)).operators
}

async function useKey(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Use a key' }).click()
  await page.getByLabel('Paste a key').fill(key)
  await page.getByRole('button', { name: 'Use this key' }).click()
}

const seedKey = (key: DevKey) => toBase58(key.privateKeyBytes)
const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click()
const confirm = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

/** Everything that left the page, and everything that it left behind. */
function watchSecrets(page: Page) {
  const sent: string[] = []
  page.on('request', (request) =>
    sent.push([request.url(), JSON.stringify(request.headers()), request.postData() ?? ''].join('\n')),
  )
  return async (secrets: readonly string[]) => {
    for (const secret of secrets) expect(sent.join('\n')).not.toContain(secret)
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    )
    expect(stored).toBe('[{},{},""]')
  }
}

describe('with a key', () => {
  it('T-68 ADD-16 LOCK-12 OPER-07 lists lockers and opens one; the key stays in the page', {
    tags: ['nightly'],
  }, async () => {
    await newLocker(payerSigner, [`name:${HOSTILE_NAME}`, '<b>tag</b>'])
    await seedReceipt(site.gateway.context, { owner: PAYER.address })
    const stranger = signerFromSeed((DEMO_PAYERS[2] as DevKey).privateKeyBytes)
    const theirs = await newLocker(stranger, ['name:photos'])
    await clientOf(stranger).addOperator(theirs, PAYER.address)
    const visited = await visit(site, '/locker')
    const { page } = visited
    const expectNoSecret = watchSecrets(page)
    await page.getByRole('button', { name: 'Use a key' }).waitFor()
    expect(await visited.bytes()).toBeLessThan(FIRST_LOAD_BYTES)
    await expectGoodLooks(visited, 'lockers-locked')
    await page.getByLabel('Locker id or receipt id').fill('nonsense')
    await page.getByRole('button', { name: 'Go to the locker' }).click()
    await page.getByText('A locker id is locker_').waitFor()

    await useKey(page, seedKey(PAYER))
    const list = page.getByRole('list', { name: 'Lockers of this key' })
    await list.getByText('tax\\u{202e}gnp.\\u{202c}<img src=x>').waitFor()
    await list.getByText('Paid, not opened yet').waitFor()
    await list.getByText(`Of ${stranger.address}, who calls it “photos”`).waitFor()
    const names = await list.locator('b').allTextContents()
    expect([names.includes(theirs.locker_id), names.includes('photos')]).toEqual([true, false])
    await expectGoodLooks(visited, 'lockers')
    await list.getByText('tax').click()
    await page.getByText('report.txt').waitFor()
    await expectNoSecret([seedKey(PAYER), Buffer.from(PAYER.privateKeyBytes).toString('hex')])
    expectCalm(visited)
    await page.reload()
    await page.getByRole('button', { name: 'Use a key' }).waitFor()
    await visited.leave()
  })

  it('T-61 LOCK-05 shows each part of a locker, by a link to it, in both colours and on a phone', {
    tags: ['nightly'],
  }, async () => {
    const { locker_id } = await newLocker(payerSigner, [`name:${HOSTILE_NAME}`, '<b>tag</b>'])
    const visited = await visit(site, `/locker/${locker_id}#usage`)
    const { page } = visited
    await useKey(page, seedKey(PAYER))
    await page.getByRole('heading', { level: 1, name: 'tax' }).waitFor()
    await page.getByText('Next publication').waitFor()
    await tab(page, 'Files')
    await page.getByText('report.txt').waitFor()
    await expectGoodLooks(visited, 'locker-files')
    for (const [name, ready] of [
      ['People', 'Nobody but the owner.'],
      ['Usage', 'Next publication'],
      ['Settings', 'End them all'],
      ['Proof', 'No statement yet'],
    ] as const) {
      await tab(page, name)
      await page.getByText(ready).first().waitFor()
      expect(new URL(page.url()).hash).toBe(`#${name.toLowerCase()}`)
      await expectGoodLooks(visited, `locker-${name.toLowerCase()}`)
    }
    expectCalm(visited)
    await visited.leave()
  })

  it('OPER-01 OPER-02 attests and publishes live, manages people and the public link', {
    tags: ['nightly'],
  }, async () => {
    const locker = await newLocker()
    const visited = await visit(site, `/locker/${locker.locker_id}#proof`)
    const { page } = visited
    await useKey(page, seedKey(PAYER))
    await page.getByText('No statement yet').waitFor()
    await page.getByRole('button', { name: 'Attest and publish' }).click()
    const steps = page.getByRole('list', { name: 'Where it stands' })
    await steps.getByText('Statement 1 is signed').waitFor()
    await steps.getByText('Published on chain in slot').waitFor()
    await steps.getByText('Final').waitFor()
    await page.getByRole('cell', { name: 'final' }).waitFor()
    expect(await page.getByRole('link', { name: 'Check every fact' }).getAttribute('href')).toBe(
      `${site.url}/verify/${locker.receipt_id}`,
    )
    await expectGoodLooks(visited, 'locker-proven')
    await page.getByRole('button', { name: 'Attest and publish' }).click()
    await page.getByText('Nothing has changed').waitFor()
    const [bundle] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save the evidence bundle' }).click(),
    ])
    expect(await contentOf(bundle)).toContain(locker.receipt_id)
    await page.getByLabel('Files to show').fill('report.txt')
    const [redacted] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the redacted bundle' }).click(),
    ])
    const content = await contentOf(redacted)
    expect(content).toContain('report.txt')
    expect(content).not.toContain(locker.receipt_id)

    await tab(page, 'People')
    const add = page.getByRole('form', { name: 'Add an operator' })
    for (const [wrong, message] of [
      [EVM_PAYER.address, 'This is not an Ed25519 public key'],
      [PAYER.address, 'The owner may do everything already.'],
    ] as const) {
      await add.getByRole('textbox').fill(wrong)
      await add.getByRole('button').click()
      await add.getByText(message).waitFor()
    }
    const other = signerFromSeed(hash('sha256', 'operator', 'buffer'))
    await add.getByRole('textbox').fill(other.address)
    await add.getByRole('button').click()
    await page.getByRole('button', { name: `Remove ${other.address}` }).click()
    expect(await operatorsOf(locker)).toEqual([other.address])
    await expectGoodLooks(visited, 'locker-remove-operator')
    await confirm(page, 'Remove')
    await page.getByText('Nobody but the owner.').waitFor()
    expect(await operatorsOf(locker)).toEqual([])

    const link = page.getByRole('region', { name: 'Public link' })
    const read = (id: string) => fetch(`${site.url}/v1/r/${id}/f/report.txt`).then(({ status }) => status)
    expect(await read(locker.receipt_id)).toBe(200)
    await link.getByRole('button', { name: 'Replace the id' }).click()
    await confirm(page, 'Replace the id')
    await expect.poll(() => link.locator('code').textContent()).not.toBe(locker.receipt_id)
    const id = (await link.locator('code').textContent()) as string
    expect([await read(locker.receipt_id), await read(id)]).toEqual([404, 200])
    await link.getByRole('button', { name: 'Close the link' }).click()
    await confirm(page, 'Close the link')
    await link.getByText('Nobody can open files').waitFor()
    expect(await read(id)).toBe(404)
    await link.getByRole('button', { name: 'Open it again' }).click()
    await link.getByText('every file in the locker whose name they know').waitFor()

    await tab(page, 'Settings')
    await page.getByRole('button', { name: 'End them all' }).click()
    await confirm(page, 'End them all')
    await page.getByText('All links and uploads have ended').waitFor()
    expectCalm(visited)
    await visited.leave()
  })

  it('T-49 SHORT-07 says what the public link opens, and what closing it leaves open, as the gateway does', {
    tags: ['nightly'],
  }, async () => {
    const locker = await newLocker()
    const client = clientOf(payerSigner)
    await client.attest(locker)
    const { locker_id } = locker
    const asked = { filenames: ['report.txt'], ttl_min: 60 }
    const { urls } = (await client.call(fileUrls, { params: { locker_id }, body: asked })).body
    const temporary = urls[0]!.download_url
    const statusOf = async (url: string) => (await fetch(new URL(url, site.url))).status
    const publicly = (id: string) => statusOf(`/v1/r/${id}/f/report.txt`)
    const evidence = async (id: string) => {
      const answer = await fetch(`${site.url}/v1/storage/evidence-bundle?receipt_id=${id}`)
      return [answer.status, (await answer.text()).includes('report.txt')]
    }
    const visited = await visit(site, `/locker/${locker_id}#people`)
    const { page } = visited
    await useKey(page, seedKey(PAYER))
    const link = page.getByRole('region', { name: 'Public link' })
    await link.getByText('Anyone with this link can open every file in the locker. Once the locker is').waitFor()
    await link.getByText('the evidence at the same id lists all file names, sizes and hashes.').waitFor()
    expect([await publicly(locker.receipt_id), await evidence(locker.receipt_id)]).toEqual([200, [200, true]])

    await link.getByRole('button', { name: 'Close the link' }).click()
    await page.getByRole('dialog').getByText('Closing the link stops it at once. Temporary links').waitFor()
    await page.getByRole('dialog').getByText('work until they expire, and evidence already published').waitFor()
    await expectGoodLooks(visited, 'locker-close-link')
    await confirm(page, 'Close the link')
    await link.getByText('Nobody can open files through the public link.').waitFor()
    expect(await publicly(locker.receipt_id)).toBe(404)
    expect([await statusOf(temporary), await evidence(locker.receipt_id)]).toEqual([200, [200, true]])

    await link.getByRole('button', { name: 'Replace the id' }).click()
    await page.getByRole('dialog').getByText('Links with the old id stop working at once and for good.').waitFor()
    await page.getByRole('dialog').getByText('Temporary links already handed out work until they expire').waitFor()
    await confirm(page, 'Replace the id')
    await link.getByText('It does not lead to the evidence, which is public under the receipt id.').waitFor()
    const id = (await link.locator('code').textContent()) as string
    expect([await publicly(locker.receipt_id), await publicly(id)]).toEqual([404, 200])
    expect([await evidence(id), await evidence(locker.receipt_id)]).toEqual([
      [404, false],
      [200, true],
    ])
    expect(await statusOf(temporary)).toBe(200)
    await expectGoodLooks(visited, 'locker-link-replaced')
    await visited.leave()
  })

  it('OPER-03 OPER-04 OPER-05 LOCK-02 LOCK-04 T-29 says what a key may not do, and opens what was paid for', {
    tags: ['nightly'],
  }, async () => {
    const locker = await newLocker()
    const visited = await visit(site, `/locker/${locker.locker_id}`)
    const { page } = visited
    const operator = DEMO_PAYERS[2] as DevKey
    await useKey(page, seedKey(operator))
    await page.getByText('This key does not open the locker').waitFor()
    await expectGoodLooks(visited, 'locker-wrong-key')
    await clientOf(payerSigner).addOperator(locker, operator.address)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('report.txt').waitFor()
    await tab(page, 'Proof')
    await page.getByRole('button', { name: 'Attest and publish' }).click()
    await page.getByRole('dialog', { name: 'The owner must sign this' }).waitFor()
    await expectGoodLooks(visited, 'locker-owner-needed')
    await useKey(page, seedKey(DEMO_PAYERS[3] as DevKey))
    await page.getByText('which is not the owner').waitFor()
    await page.getByLabel('Paste a key').fill(seedKey(PAYER))
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.getByText('Statement 1 is signed').waitFor()

    const { receipt_id } = await seedReceipt(site.gateway.context, { owner: PAYER.address })
    await page.goto(`${site.url}/locker#${receipt_id}`)
    await useKey(page, seedKey(PAYER))
    for (const name of ['x'.repeat(60), 'a/b']) {
      await page.getByLabel('Name').fill(name)
      await page.getByText('At most 59 letters, digits').waitFor()
      await page.getByLabel('Name').fill('')
    }
    await page.getByLabel('Name').fill('Contracts')
    await expectGoodLooks(visited, 'locker-unopened')
    await page.getByRole('button', { name: 'Open the locker' }).click()
    await page.getByRole('heading', { name: 'Contracts' }).waitFor()

    await page.goto(`${site.url}/locker/locker_000000000000`)
    await useKey(page, seedKey(PAYER))
    await page.getByText('There is no open locker with this id').first().waitFor()
    await expectGoodLooks(visited, 'locker-missing')
    await page.route('**/v1/storage/metadata/**', (route) => route.fulfill({ status: 503, body: '{}' }))
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('The gateway cannot do this right now').waitFor()
    await page.unroute('**/v1/storage/metadata/**')
    await page.route('**/v1/storage/metadata/**', async (route) => {
      const facts = await (await route.fetch()).json()
      const restriction = { state: 'frozen', since: facts.created_at, notice: 'a <b>court</b> asked\u202E' }
      await route.fulfill({ json: { ...facts, restriction } })
    })
    await page.goto(`${site.url}/locker/${locker.locker_id}`)
    await useKey(page, seedKey(PAYER))
    await page.getByText('a <b>court</b> asked\\u{202e}').waitFor()
    await expectGoodLooks(visited, 'locker-frozen')
    await page.unroute('**/v1/storage/metadata/**')
    await page.route('**/v1/storage/metadata/**', async (route) => {
      const facts = await (await route.fetch()).json()
      await route.fulfill({ json: { ...facts, receipt_id } })
    })
    await page.reload()
    await useKey(page, seedKey(PAYER))
    await page.getByText('The gateway gave an answer that cannot be true').waitFor()
    await visited.leave()
  })
})

describe('in words', () => {
  it('T-56 warns as the command line does: from 80 % and from 30 days before the end', () => {
    const now = Date.parse('2026-11-16T12:00:00Z')
    const half = { used: 5, bought: 10 }
    const usage = { expires_at: '2027-11-16T12:00:00Z', bytes: half, files: half, egress: half }
    expect(usageWarnings(usage, now)).toEqual([])
    expect(usageWarnings({ ...usage, files: { used: 799, bought: 1000 } }, now)).toEqual([])
    expect(usageWarnings({ ...usage, files: { used: 800, bought: 1000 } }, now)).toEqual([
      'You have used 80% of the file limit. Renewing adds to it.',
    ])
    expect(usageWarnings({ ...usage, expires_at: '2026-12-17T12:00:01Z' }, now)).toEqual([])
    expect(usageWarnings({ ...usage, expires_at: '2026-11-17T12:00:00Z' }, now)[0]).toMatch(
      /^This locker expires in 1 day/,
    )
    expect(usageWarnings({ ...usage, expires_at: '2026-11-16T11:00:00Z' }, now)[0]).toMatch(/has expired/)
  })
})

describe('with a wallet', () => {
  it('T-68 OPER-01 OPER-06 signs once for a key of this browser, which survives a reload and can be ended', {
    tags: ['nightly'],
  }, async () => {
    const locker = await newLocker()
    let wallet: InjectedWallet | undefined
    const visited = await visit(site, `/locker/${locker.locker_id}`, {}, async (page) => {
      wallet = await injectStandardWallet(page.context(), { key: PAYER, rpcUrl: '' })
    })
    const { page } = visited
    const expectNoSecret = watchSecrets(page)
    const signatures = () => wallet?.seen.length
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await page.getByText('Your wallet signs once now.').waitFor()
    expect(signatures()).toBe(0)
    await expectGoodLooks(visited, 'locker-choose-mode')
    wallet?.answer('reject')
    await page.getByRole('button', { name: 'Let this browser in' }).click()
    await page.getByText('You declined in the wallet').waitFor()
    await expectGoodLooks(visited, 'locker-declined')
    expect(await operatorsOf(locker)).toEqual([])
    wallet?.answer('approve')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Let this browser in' }).click()
    await page.getByText('report.txt').waitFor()
    for (const [name, ready] of [
      ['Usage', 'Next publication'],
      ['Proof', 'No statement yet'],
      ['People', 'this browser'],
    ] as const) {
      await tab(page, name)
      await page.getByText(ready).first().waitFor()
    }
    expect(signatures()).toBe(2) // One of them declined.
    expect(await operatorsOf(locker)).toHaveLength(1)
    expect(await storedKeys(page)).toEqual([{ extractable: false, exported: 'InvalidAccessError' }])
    await expectNoSecret([])

    await page.goto(`${site.url}/locker`)
    await page.getByRole('button', { name: 'Continue' }).waitFor()
    await expectGoodLooks(visited, 'lockers-continue')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('link', { name: locker.locker_id }).click()
    await page.getByText('report.txt').waitFor()
    await page.reload()
    await page.getByText('report.txt').waitFor()
    expect(signatures()).toBe(2)
    const secondTab = await page.context().newPage()
    await secondTab.goto(page.url())
    await secondTab.getByText('report.txt').waitFor()
    const browserKey = await signerIn(secondTab, (await operatorsOf(locker))[0] as string)
    const byBrowser = clientOf(browserKey)
    expect((await byBrowser.usage(locker)).files.used).toBe(1)
    for (const more of [
      () => byBrowser.addOperator(locker, EVERYBODY),
      () => byBrowser.removeOperator(locker, browserKey.address),
      () => byBrowser.changePublicLink(locker, 'rotate'),
      () => byBrowser.revokeAccess(locker),
      () => byBrowser.attest(locker),
    ])
      await expect(more()).rejects.toMatchObject({ code: 'OWNER_REQUIRED' })
    await page.getByRole('button', { name: 'Lock', exact: true }).click()
    await expectGoodLooks(visited, 'locker-locked')
    await page.getByRole('button', { name: 'Continue' }).click()

    await tab(page, 'Settings')
    await page.getByText('This browser has a key for this locker').waitFor()
    await expectGoodLooks(visited, 'locker-browser-key')
    await page.getByRole('button', { name: 'End the key of this browser' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Test wallet' }).click()
    await page.getByText('How should this locker be signed for?').waitFor()
    expect(signatures()).toBe(3)
    expect(await operatorsOf(locker)).toEqual([])
    expect(await storedKeys(page)).toEqual([])
    await expect(byBrowser.usage(locker)).rejects.toMatchObject({ code: 'SIGNATURE_INVALID' })
    await tab(secondTab, 'Usage')
    await secondTab.getByText('This key does not open the locker').waitFor()
    await secondTab.reload()
    await secondTab.getByText('Use the wallet that paid').waitFor()
    expect(visited.problems.filter((problem) => !problem.includes('403'))).toEqual([])
    await visited.leave()
  })

  it('T-68 OPER-08 LOCK-02 an EVM owner opens a paid locker for the browser with one signature, whatever its clock says', async () => {
    const signer = signerFromEvmKey(EVM_PAYER.privateKey)
    const { receipt_id } = await seedReceipt(site.gateway.context, { owner: signer.address })
    let wallet: InjectedWallet | undefined
    const visited = await visit(site, '/locker', undefined, async (page) => {
      wallet = await injectEvmWallet(page, { account: EVM_PAYER, rpcUrl: site.url })
      await page.addInitScript(() => {
        const now = Date.now
        Date.now = () => now() + 3_600_000
      })
    })
    const { page } = visited
    await page.getByRole('button', { name: 'Test EVM wallet' }).click()
    await page.getByText('Paid, not opened yet').click()
    await page.getByRole('button', { name: 'Open the locker' }).click()
    await page.getByText('No files yet').waitFor()
    expect(wallet?.seen).toHaveLength(2) // To list, and to open.
    expectCalm(visited)
    const { locker_id } = await seedLocker(site.gateway.context, { owner: signer.address })
    await page.goto(`${site.url}/locker/${locker_id}`)
    await page.getByRole('button', { name: 'Test EVM wallet' }).click()
    await page.getByRole('button', { name: 'Sign each time' }).click()
    await page.getByText('No files yet').waitFor()
    expect(wallet?.seen).toHaveLength(4) // For the locker, and for its files.
    expect(receipt_id).toMatch(/^rcpt_/)
    await visited.leave()
  })
})

/** The worst that a script in the page could do with the key of the browser: sign with it, as long as it is there. */
async function signerIn(page: Page, address: string): Promise<Signer> {
  const key = await page.evaluateHandle(async () => {
    const [{ name = '' } = {}] = await indexedDB.databases()
    return new Promise<CryptoKey>((resolve) => {
      const opening = indexedDB.open(name)
      opening.onsuccess = () => {
        const reading = opening.result.transaction('keys').objectStore('keys').getAll()
        reading.onsuccess = () => {
          opening.result.close()
          resolve(reading.result[0].privateKey)
        }
      }
    })
  })
  return {
    address,
    async sign(message) {
      const signature = await key.evaluate(
        async (privateKey, bytes) => [
          ...new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, Uint8Array.from(bytes))),
        ],
        [...message],
      )
      return toBase58(Uint8Array.from(signature))
    },
  }
}

/** The keys that the browser keeps, and what happens to a page that wants to read one. */
function storedKeys(page: Page) {
  return page.evaluate(async () => {
    const [{ name = '' } = {}] = await indexedDB.databases()
    const rows = await new Promise<{ privateKey: CryptoKey }[]>((resolve) => {
      const opening = indexedDB.open(name)
      opening.onsuccess = () => {
        const reading = opening.result.transaction('keys').objectStore('keys').getAll()
        reading.onsuccess = () => {
          opening.result.close()
          resolve(reading.result)
        }
      }
    })
    const exported = (key: CryptoKey) =>
      crypto.subtle.exportKey('pkcs8', key).then(
        () => 'exported',
        (error: Error) => error.name,
      )
    return Promise.all(
      rows.map(async ({ privateKey }) => ({
        extractable: privateKey.extractable,
        exported: await exported(privateKey),
      })),
    )
  })
}

async function contentOf(download: { createReadStream(): Promise<AsyncIterable<Buffer>> }): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of await download.createReadStream()) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}
