// @module-tag nightly

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS, type DevKey } from '@svc/devnet/primary-chain/dev-accounts'
import { seedReceipt } from '@svc/devnet/services/seed-lockers'
import { toBase58 } from '@svc/protocol/bytes'
import { createClient, type Locker } from '@svc/sdk'
import { type Signer, signerFromSeed } from '@svc/sdk/signers'
import type { JSHandle, Locator, Page } from 'playwright'
import { describe, expect, it } from 'vitest'
import { injectStandardWallet } from './injected-wallets.ts'
import { useSite } from './site.ts'
import { click, expectAccessible, expectNoErrors, useKey, visit } from './visit.ts'

/** The compressed size of a first visit; wallets and signing are loaded later. */
const FIRST_LOAD_BYTES = 60_000
const PAYER = DEMO_PAYERS[1] as DevKey
const EVM_PAYER = DEV_PAYERS[1] as (typeof DEV_PAYERS)[number]
const OTHER_WALLET = (DEMO_PAYERS[3] as DevKey).address
/** Markup, and characters that reverse the text after them. */
const HOSTILE_NAME = 'tax\u202Egnp.\u202C<img src=x>'

// The pages show what is final.
const site = useSite({ landing: 'at once' })

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

const seedKey = (key: DevKey) => toBase58(key.privateKeyBytes)
const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click()
const confirm = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

/** Everything that left the page, and everything that it stored. */
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
  it('T-68 ADD-16 lists lockers and opens one; the key stays in the page', async () => {
    await newLocker(payerSigner, [`name:${HOSTILE_NAME}`, '<b>tag</b>'])
    await seedReceipt(site.gateway.context, { owner: PAYER.address })
    const otherOwner = signerFromSeed((DEMO_PAYERS[2] as DevKey).privateKeyBytes)
    const theirs = await newLocker(otherOwner, ['name:photos'])
    await clientOf(otherOwner).addOperator(theirs, PAYER.address)
    const { page, bytes } = await visit(site, '/locker')
    const expectNoSecret = watchSecrets(page)
    await page.getByRole('button', { name: 'Use a key' }).waitFor()
    expect(await bytes()).toBeLessThan(FIRST_LOAD_BYTES)
    await expectAccessible(page, 'lockers-locked')
    await page.getByLabel('Locker id or receipt id').fill('nonsense')
    await page.getByRole('button', { name: 'Go to the locker' }).click()
    await page.getByText('a locker id is locker_').waitFor()

    await useKey(page, seedKey(PAYER))
    const list = page.getByRole('list', { name: 'Lockers of this key' })
    await list.getByText('tax\\u{202e}gnp.\\u{202c}<img src=x>').waitFor()
    await list.getByText('Paid, not opened yet').waitFor()
    await list.getByText(`Owned by ${otherOwner.address}, who calls it “photos”`).waitFor()
    const names = await list.locator('b').allTextContents()
    expect([names.includes(theirs.locker_id), names.includes('photos')]).toEqual([true, false])
    await expectAccessible(page, 'lockers')
    await list.getByText('tax').click()
    await page.getByText('report.txt').waitFor()
    await expectNoSecret([seedKey(PAYER), Buffer.from(PAYER.privateKeyBytes).toString('hex')])
    expectNoErrors(page)
    await page.reload()
    await page.getByRole('button', { name: 'Use a key' }).waitFor()
  })

  it('T-61 LOCK-05 each part of a locker has a link, and is accessible in both colours and on a phone', async () => {
    const { locker_id } = await newLocker(payerSigner, [`name:${HOSTILE_NAME}`, '<b>tag</b>'])
    const { page } = await visit(site, `/locker/${locker_id}#usage`)
    await useKey(page, seedKey(PAYER))
    await page.getByRole('heading', { level: 1, name: 'tax' }).waitFor()
    await page.getByText('Next publication').waitFor()
    await tab(page, 'Files')
    await page.getByText('report.txt').waitFor()
    await expectAccessible(page, 'locker-files')
    for (const [name, ready] of [
      ['People', 'Only the owner.'],
      ['Usage', 'Next publication'],
      ['Access', 'End all shares, keys and uploads'],
      ['Settings', 'About this locker'],
      ['Proof', 'No statement yet'],
    ] as const) {
      await tab(page, name)
      await page.getByText(ready).first().waitFor()
      expect(new URL(page.url()).hash).toBe(`#${name.toLowerCase()}`)
      await expectAccessible(page, `locker-${name.toLowerCase()}`)
    }
    expectNoErrors(page)
  })

  it('ATT-01 attests and publishes live, and saves the evidence complete or redacted', async () => {
    const locker = await newLocker()
    const { page } = await visit(site, `/locker/${locker.locker_id}#proof`)
    await useKey(page, seedKey(PAYER))
    await page.getByText('No statement yet').waitFor()
    await click(page, 'Attest and publish')
    const steps = page.getByRole('list', { name: 'Progress' })
    for (const step of ['Statement 1 is signed', 'Published on chain in slot', 'Final'])
      await steps.getByText(step).waitFor()
    await page.getByRole('cell', { name: 'final' }).waitFor()
    expect(await page.getByRole('link', { name: 'Check every fact' }).getAttribute('href')).toBe(
      `${site.url}/verify/${locker.receipt_id}`,
    )
    await expectAccessible(page, 'locker-proven')
    await click(page, 'Attest and publish')
    await page.getByText('Nothing has changed').waitFor()
    const saved = async (press: Locator) => {
      const [download] = await Promise.all([page.waitForEvent('download'), press.click()])
      return readFileSync(await download.path(), 'utf8')
    }
    expect(await saved(page.getByRole('link', { name: 'Save the evidence bundle' }))).toContain(locker.receipt_id)
    await page.getByLabel('Files to show').fill('report.txt')
    const redacted = await saved(page.getByRole('button', { name: 'Save the redacted bundle' }))
    expect([redacted.includes('report.txt'), redacted.includes(locker.receipt_id)]).toEqual([true, false])
    expectNoErrors(page)
  })

  it('OPER-02 adds and removes operators', async () => {
    const locker = await newLocker()
    const { page } = await visit(site, `/locker/${locker.locker_id}#people`)
    await useKey(page, seedKey(PAYER))
    const add = page.getByRole('form', { name: 'Add an operator' })
    const give = async (address: string) => {
      await add.getByRole('textbox').fill(address)
      await add.getByRole('button').click()
    }
    await give(EVM_PAYER.address)
    await add.getByText('This is not an Ed25519 public key').waitFor()
    await give(PAYER.address)
    await add.getByText('The owner can already do everything.').waitFor()
    const other = signerFromSeed(hash('sha256', 'operator', 'buffer'))
    await give(other.address)
    await click(page, `Remove ${other.address}`)
    expect(await operatorsOf(locker)).toEqual([other.address])
    await expectAccessible(page, 'locker-remove-operator')
    await confirm(page, 'Remove')
    await page.getByText('Only the owner.').waitFor()
    expect(await operatorsOf(locker)).toEqual([])
    expectNoErrors(page)
  })

  it('T-49 SHORT-07 explains what the public link opens, and what stays open after closing it', async () => {
    const locker = await newLocker()
    await clientOf(payerSigner).attest(locker)
    const publicly = async (id: string) => (await fetch(`${site.url}/v1/r/${id}/f/report.txt`)).status
    const { page } = await visit(site, `/locker/${locker.locker_id}#people`)
    await useKey(page, seedKey(PAYER))
    const link = page.getByRole('region', { name: 'Public link' })
    await link.getByText('Anyone with this link can open every file in the locker. Once the locker is').waitFor()
    await link.getByText('the evidence at the same id lists all file names, sizes and hashes.').waitFor()
    await link.getByRole('button', { name: 'Close the link' }).click()
    await page
      .getByRole('dialog')
      .getByText('The link stops working immediately. Shares, and temporary links')
      .waitFor()
    await page.getByRole('dialog').getByText('work until they expire, and evidence already published').waitFor()
    await expectAccessible(page, 'locker-close-link')
    await confirm(page, 'Close the link')
    await link.getByText('No one can open files through the public link.').waitFor()
    expect(await publicly(locker.receipt_id)).toBe(404)
    await link.getByRole('button', { name: 'Open it again' }).click()
    await link.getByText('Anyone with this link can open every file in the locker').waitFor()
    await link.getByRole('button', { name: 'Replace the id' }).click()
    await page
      .getByRole('dialog')
      .getByText('Links with the old id stop working immediately and permanently.')
      .waitFor()
    await confirm(page, 'Replace the id')
    await link.getByText('It does not lead to the evidence, which is public under the receipt id.').waitFor()
    const id = (await link.locator('code').textContent()) as string
    expect([await publicly(locker.receipt_id), await publicly(id)]).toEqual([404, 200])
    await expectAccessible(page, 'locker-link-replaced')

    // The same link is shown above every tab.
    await page.getByRole('tab', { name: 'Files' }).click()
    const toggle = page.getByRole('switch', { name: 'Public link' })
    await page.getByText('Anyone with the link can open every file.').waitFor()
    await toggle.click()
    await confirm(page, 'Close the link')
    await page.getByText('No one can open files through it.').waitFor()
    expect([await publicly(id), await toggle.getAttribute('aria-checked')]).toEqual([404, 'false'])
    await toggle.click()
    await page.getByText('Anyone with the link can open every file.').waitFor()
    expect([await publicly(id), await toggle.getAttribute('aria-checked')]).toEqual([200, 'true'])
  })

  it('T-68 creates, lists and revokes keys for S3 programs, and tokens for tus uploads', async () => {
    const locker = await newLocker()
    const { page } = await visit(site, `/locker/${locker.locker_id}#settings`)
    await useKey(page, seedKey(PAYER))
    const card = page.getByRole('region', { name: 'Keys for S3 programs' })
    await card.getByRole('button', { name: 'Show the keys' }).click()
    await card.getByText('No keys yet.').waitFor()
    await page.getByLabel('Name of the key').fill('backup')
    await card.getByLabel('Access').selectOption('read and write')
    await card.getByLabel('Only this folder').fill('/daily')
    await card.getByRole('button', { name: 'Create a key' }).click()
    await card.getByText('The secret is not shown again.').waitFor()
    expect(await card.getByText(locker.locker_id).count()).toBe(1)
    const row = card.getByRole('row', { name: /backup read and write daily\// })
    await row.waitFor()
    const listed = await clientOf(payerSigner).s3Keys(locker)
    expect(listed).toMatchObject([{ name: 'backup', access: 'write', prefix: 'daily/' }])
    await expectAccessible(page, 'locker-s3-keys')
    await row.getByRole('button', { name: 'Revoke' }).click()
    await confirm(page, 'Revoke')
    await row.waitFor({ state: 'detached' })
    expect(await clientOf(payerSigner).s3Keys(locker)).toEqual([])
    expect(await card.getByText('The secret is not shown again.').count()).toBe(0)

    // A new key does not stand for the whole list, which has others.
    for (const name of ['one', 'two'])
      await clientOf(payerSigner).createS3Key(locker, { name, access: 'read', days: 1 })
    await page.reload()
    await useKey(page, seedKey(PAYER))
    await page.getByLabel('Name of the key').fill('three')
    await card.getByRole('button', { name: 'Create a key' }).click()
    await card.getByText('The secret is not shown again.').waitFor()
    expect(await card.getByRole('row').count()).toBe(0)
    await card.getByRole('button', { name: 'Show the keys' }).click()
    await expect.poll(() => card.getByRole('row').count()).toBe(4)

    const tokens = page.getByRole('region', { name: 'Token for tus uploads' })
    await tokens.getByRole('button', { name: 'Create a token' }).click()
    const token = (await tokens.locator('code').nth(1).textContent()) as string
    const headers = {
      'tus-resumable': '1.0.0',
      'x-upload-token': token,
      'upload-length': '2',
      'upload-metadata': `filename ${btoa('tus.txt')}`,
      'content-type': 'application/offset+octet-stream',
    }
    const endpoint = (await tokens.locator('code').first().textContent()) as string
    const uploaded = await fetch(endpoint, { method: 'POST', headers, body: 'ok' })
    expect(uploaded.status).toBe(201)
  })

  it('LOCK-17 renames a locker', async () => {
    const locker = await newLocker()
    const { page } = await visit(site, `/locker/${locker.locker_id}#settings`)
    await useKey(page, seedKey(PAYER))
    const form = page.getByRole('form', { name: 'Rename' })
    await form.getByLabel('Name').fill('rcpt_like')
    await click(page, 'Rename')
    await form.getByText('Use at most 59 letters').waitFor()
    await form.getByLabel('Name').fill('Contracts 2027')
    await click(page, 'Rename')
    await page.getByRole('heading', { level: 1, name: 'Contracts 2027' }).waitFor()
    await page.reload()
    await useKey(page, seedKey(PAYER))
    await page.getByRole('heading', { level: 1, name: 'Contracts 2027' }).waitFor()
    expectNoErrors(page)
  })

  it('OPER-03 OPER-04 explains what a key may not do, and lets the owner sign it', async () => {
    const locker = await newLocker()
    const { page } = await visit(site, `/locker/${locker.locker_id}`)
    const operator = DEMO_PAYERS[2] as DevKey
    await useKey(page, seedKey(operator))
    await page.getByText('This key does not open the locker').waitFor()
    await expectAccessible(page, 'locker-wrong-key')
    await clientOf(payerSigner).addOperator(locker, operator.address)
    await click(page, 'Try again')
    await page.getByText('report.txt').waitFor()
    await tab(page, 'Proof')
    await click(page, 'Attest and publish')
    await page.getByRole('dialog', { name: 'The owner must sign this' }).waitFor()
    await expectAccessible(page, 'locker-owner-needed')
    await useKey(page, seedKey(DEMO_PAYERS[3] as DevKey))
    await page.getByText('which is not the owner').waitFor()
    await page.getByLabel('Paste a key').fill(seedKey(PAYER))
    await click(page, 'Use this key')
    await page.getByText('Statement 1 is signed').waitFor()
  })

  it('LOCK-02 opens a paid locker, and accepts only valid names', async () => {
    const { receipt_id } = await seedReceipt(site.gateway.context, { owner: PAYER.address })
    const { page } = await visit(site, `/locker#${receipt_id}`)
    await useKey(page, seedKey(PAYER))
    await page.getByLabel('Name').fill('a/b')
    await page.getByText('Use at most 59 letters, digits').waitFor()
    await page.getByLabel('Name').fill('Contracts')
    await expectAccessible(page, 'locker-unopened')
    await click(page, 'Open the locker')
    await page.getByRole('heading', { name: 'Contracts' }).waitFor()
  })

  it('LOCK-04 T-28 reports a locker that is missing, frozen or misreported by the gateway, and when to try again', async () => {
    const { page } = await visit(site, '/locker/locker_000000000000')
    await useKey(page, seedKey(PAYER))
    await page.getByText('There is no open locker with this id').first().waitFor()
    await expectAccessible(page, 'locker-missing')
    const metadata = '**/v1/storage/metadata/**'
    await page.route(metadata, (route) => route.fulfill({ status: 503, body: '{}' }))
    await click(page, 'Try again')
    await page.getByText('The gateway cannot do this right now').waitFor()
    const { locker_id } = await newLocker()
    const restriction = { state: 'frozen', since: '2026-01-01T00:00:00Z', notice: 'a <b>court</b> asked\u202E' }
    for (const [change, says] of [
      [{ restriction }, 'a <b>court</b> asked\\u{202e}'],
      [{ receipt_id: `rcpt_${'0'.repeat(32)}` }, 'The gateway gave an answer that cannot be true'],
    ] as const) {
      await page.unroute(metadata)
      await page.route(metadata, async (route) =>
        route.fulfill({ json: { ...(await (await route.fetch()).json()), ...change } }),
      )
      await page.goto(`${site.url}/locker/${locker_id}`)
      await page.reload()
      await useKey(page, seedKey(PAYER))
      await page.getByText(says).waitFor()
      await expectAccessible(page, `locker-${Object.keys(change)[0]}`)
    }
  })
})

describe('with a wallet', () => {
  async function visitWithWallet(path: string) {
    const visited = await visit(site, path, {}, (page) =>
      injectStandardWallet(page.context(), { key: PAYER, rpcUrl: '' }),
    )
    return { ...visited, wallet: visited.prepared }
  }

  /** A locker that the wallet opened for this browser. */
  async function letIn() {
    const locker = await newLocker()
    const visited = await visitWithWallet(`/locker/${locker.locker_id}`)
    const { page } = visited
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await page.getByText('Your wallet signs once now.').waitFor()
    await click(page, 'Add this browser')
    await page.getByText('report.txt').waitFor()
    return { ...visited, locker }
  }

  it('T-68 OPER-01 asks again after a refusal, and signs once for all parts of a locker', async () => {
    const locker = await newLocker()
    const { page, wallet } = await visitWithWallet(`/locker/${locker.locker_id}`)
    const expectNoSecret = watchSecrets(page)
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await page.getByText('Your wallet signs once now.').waitFor()
    expect(wallet.seen.length).toBe(0)
    await expectAccessible(page, 'locker-choose-mode')
    wallet.answer('reject')
    await click(page, 'Add this browser')
    await page.getByText('You declined in the wallet').waitFor()
    await expectAccessible(page, 'locker-declined')
    expect(await operatorsOf(locker)).toEqual([])
    wallet.answer('approve')
    await click(page, 'Try again')
    await click(page, 'Add this browser')
    await page.getByText('report.txt').waitFor()
    for (const [name, ready] of [
      ['Usage', 'Next publication'],
      ['Proof', 'No statement yet'],
      ['People', 'this browser'],
    ] as const) {
      await tab(page, name)
      await page.getByText(ready).first().waitFor()
    }
    expect(wallet.seen.length).toBe(2) // One of them declined.
    expect(await operatorsOf(locker)).toHaveLength(1)
    await expectNoSecret([])
  })

  it("T-68 OPER-06 the browser's key cannot be read, has fewer rights than the owner, and survives a reload", async () => {
    const { page, wallet, locker } = await letIn()
    expect(await storedKeys(page)).toEqual([{ extractable: false, exported: 'InvalidAccessError' }])
    await page.goto(`${site.url}/locker`)
    await click(page, 'Continue')
    await page.getByRole('link', { name: locker.locker_id }).click()
    await page.getByText('report.txt').waitFor()
    await page.reload()
    await page.getByText('report.txt').waitFor()
    const byBrowser = clientOf(await signerIn(page, (await operatorsOf(locker))[0] as string))
    expect((await byBrowser.usage(locker)).files.used).toBe(1)
    for (const more of [
      () => byBrowser.addOperator(locker, OTHER_WALLET),
      () => byBrowser.changePublicLink(locker, 'rotate'),
      () => byBrowser.revokeAccess(locker),
      () => byBrowser.attest(locker),
    ])
      await expect(more()).rejects.toMatchObject({ code: 'OWNER_REQUIRED' })
    await click(page, 'Lock')
    await expectAccessible(page, 'locker-locked')
    await click(page, 'Continue')
    await page.getByText('report.txt').waitFor()
    expect(wallet.seen.length).toBe(1)
  })

  it("T-68 OPER-06 the browser's key ends in all tabs when the owner ends it", async () => {
    const { page, wallet, locker } = await letIn()
    await page.reload() // which forgets the wallet
    const secondTab = await page.context().newPage()
    await secondTab.goto(page.url())
    await secondTab.getByText('report.txt').waitFor()
    await tab(page, 'Settings')
    await page.getByText('This browser has a key for this locker').waitFor()
    await expectAccessible(page, 'locker-browser-key')
    await click(page, 'Remove the key of this browser')
    await page.getByRole('dialog').getByRole('button', { name: 'Test wallet' }).click()
    await page.getByText('How do you want to sign for this locker?').waitFor()
    expect([wallet.seen.length, await operatorsOf(locker), await storedKeys(page)]).toEqual([2, [], []])
    await tab(secondTab, 'Usage')
    await secondTab.getByText('This key does not open the locker').waitFor()
    await secondTab.reload()
    await secondTab.getByText('Use the wallet that paid').waitFor()
  })

  it('T-68 OPER-08 signs each time for an owner who wants no key in the browser', async () => {
    const { locker_id } = await newLocker()
    const { page, wallet } = await visitWithWallet(`/locker/${locker_id}`)
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await click(page, 'Sign each time')
    await page.getByText('report.txt').waitFor()
    expect([wallet.seen.length, await storedKeys(page)]).toEqual([2, []]) // For the locker, and for its files.
  })
})

/** Runs in the page: returns the keys that the browser stores for this origin. */
const STORED_KEYS = `(async () => {
  const [{ name } = {}] = await indexedDB.databases()
  if (!name) return []
  const done = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result) })
  const database = await done(indexedDB.open(name))
  const rows = await done(database.transaction('keys').objectStore('keys').getAll())
  database.close()
  return rows.map(({ privateKey }) => privateKey)
})()`

/** The worst attack by a script in the page: it signs with the browser's key while it is stored. */
async function signerIn(page: Page, address: string): Promise<Signer> {
  const keys = (await page.evaluateHandle(STORED_KEYS)) as JSHandle<CryptoKey[]>
  return {
    address,
    async sign(message) {
      const signature = await keys.evaluate(
        async ([key], bytes) => [...new Uint8Array(await crypto.subtle.sign('Ed25519', key!, Uint8Array.from(bytes)))],
        [...message],
      )
      return toBase58(Uint8Array.from(signature))
    },
  }
}

/** The stored keys, and the error of a page that tries to read one. */
async function storedKeys(page: Page) {
  const keys = (await page.evaluateHandle(STORED_KEYS)) as JSHandle<CryptoKey[]>
  return keys.evaluate((all) =>
    Promise.all(
      all.map(async (key) => {
        const exported = await crypto.subtle.exportKey('pkcs8', key).then(String, (error: Error) => error.name)
        return { extractable: key.extractable, exported }
      }),
    ),
  )
}
