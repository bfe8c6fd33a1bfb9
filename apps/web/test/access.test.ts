// @module-tag nightly

import { hash } from 'node:crypto'
import { type AccessEntry, listAccess } from '@svc/api/access'
import { createShare } from '@svc/api/shares'
import { openUploadSession } from '@svc/api/upload-sessions'
import { DEMO_PAYERS, type DevKey } from '@svc/devnet/primary-chain/dev-accounts'
import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { toBase58 } from '@svc/protocol/bytes'
import { createClient } from '@svc/sdk'
import { type Signer, signerFromSeed, signerFromSolanaKeypair } from '@svc/sdk/signers'
import type { Page } from 'playwright'
import { describe, expect, it } from 'vitest'
import { endingOf } from '../src/pages/locker/access/ending.ts'
import { injectStandardWallet } from './injected-wallets.ts'
import { useSite } from './site.ts'
import { click, expectAccessible, expectNoErrors, useKey, visit } from './visit.ts'

const site = useSite()
const utf8 = (text: string) => new TextEncoder().encode(text)
const operator = signerFromSeed(hash('sha256', 'operator of the access list', 'buffer'))

/** A locker with a way in of every kind. */
async function openedLocker(signer: Signer = signerFromSolanaKeypair(site.keypair)) {
  const { locker_id, receipt_id } = await seedLocker(site.gateway.context, { owner: signer.address })
  const locker = { locker_id, receipt_id }
  const params = { locker_id }
  const client = createClient({ baseUrl: site.url, signer, onWarning: () => {} })
  const theirs = createClient({ baseUrl: site.url, signer: operator, onWarning: () => {} })
  await client.put(locker, 'docs/plan.txt', utf8('the plan'))
  await client.addOperator(locker, operator.address)
  const share = async (by: typeof client, path: string, label: string) =>
    (await by.call(createShare, { params, body: { path, label, expires_in_hours: 1 } })).body
  const shares = [await share(client, 'docs/', 'for Ada'), await share(theirs, 'docs/plan.txt', 'by the operator')]
  const key = await client.createS3Key(locker, { name: 'backup', days: 7 })
  const walletKey = await client.createWalletS3Key({ name: 'all of them', days: 7 })
  await client.call(openUploadSession, { params, body: { files: [{ filename: 'later.bin' }] } })
  const kinds = async () =>
    (await client.call(listAccess, { params })).body.access
      .filter(({ status }) => status === 'open')
      .map(({ kind }) => kind)
      .sort()
  return { locker, client, shares, key, walletKey, kinds }
}

const ways = (page: Page) => page.getByRole('list', { name: 'Ways into this locker' }).getByRole('listitem')
const way = (page: Page, text: string) => ways(page).filter({ hasText: text })
const confirm = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

async function visitAccess(locker_id: string) {
  const visited = await visit(site, `/locker/${locker_id}#access`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await useKey(visited.page, toBase58(Uint8Array.from(site.keypair)))
  return visited
}

describe('the access list', () => {
  it('ADD-62 shows every way into a locker, and ends each', async () => {
    const { locker, shares, key, walletKey, kinds } = await openedLocker()
    const { page } = await visitAccess(locker.locker_id)
    await page.getByText('7 ways').waitFor()
    const shared = way(page, 'for Ada')
    for (const text of ['Share', 'docs/', 'read', 'Expires', 'Last used', 'the owner'])
      expect(await shared.textContent()).toContain(text)
    expect(await way(page, 'by the operator').textContent()).toContain(operator.address)
    await way(page, walletKey.access_key_id).getByText('All lockers of the owner').waitFor()
    await expectAccessible(page, 'locker-access')
    await shared.getByRole('button', { name: 'Copy the address of the share' }).click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(shares[0]!.url)

    const end = async (text: string, question: string) => {
      await way(page, text)
        .getByRole('button', { name: /^End: / })
        .click()
      await page.getByRole('dialog').getByText(question).waitFor()
      await confirm(page, 'End')
      await expect.poll(() => way(page, text).count()).toBe(0)
    }
    await end('for Ada', 'Its address stops working immediately and permanently.')
    expect((await fetch(shares[0]!.url)).status).toBe(404)
    await end(key.access_key_id, 'Programs that use it can no longer open the locker.')
    await end(walletKey.access_key_id, 'The key opens all lockers of the owner, and ends in all of them.')
    await end('Public link', 'The link stops working immediately.')
    expect(await kinds()).toEqual(['operator', 'share', 'upload_session'])
    // The share of the operator ends with the operator.
    await way(page, `Operator`)
      .getByRole('button', { name: `End: Operator ${operator.address}` })
      .click()
    await expectAccessible(page, 'locker-access-end')
    await confirm(page, 'End')
    await page.getByText('1 way', { exact: true }).waitFor()
    expect((await fetch(shares[1]!.url)).status).toBe(404)
    await way(page, 'Upload in progress').getByRole('button').click()
    await page.getByRole('dialog').getByText('An upload cannot be ended alone').waitFor()
    await confirm(page, 'End all shares, keys and uploads')
    await page.getByText('Only the owner can open this locker.').waitFor()
    expect(await kinds()).toEqual([])
    expectNoErrors(page)
  })

  it('T-36 ADD-62 ends all shares, keys and uploads in one step, and lists what stays', async () => {
    const { locker, kinds } = await openedLocker()
    const { page } = await visitAccess(locker.locker_id)
    await click(page, 'End all shares, keys and uploads')
    const dialog = page.getByRole('dialog')
    for (const text of [
      'all uploads in progress',
      'operators: remove them one by one',
      'the evidence at the receipt id',
    ])
      await dialog.getByText(text).waitFor()
    await expectAccessible(page, 'locker-end-all')
    await confirm(page, 'Cancel')
    expect(await kinds()).toContain('share')
    await click(page, 'End all shares, keys and uploads')
    await confirm(page, 'End all shares, keys and uploads')
    await page.getByText('2 ways').waitFor()
    expect(await kinds()).toEqual(['operator', 'public_link'])
    await click(page, 'Reload')
    await page.getByText('2 ways').waitFor()
  })

  it('T-68 ADD-62 asks a wallet only when its owner wants to see the list', async () => {
    const key = DEMO_PAYERS[1] as DevKey
    const { locker } = await openedLocker(signerFromSeed(key.privateKeyBytes))
    const { page, prepared: wallet } = await visit(site, `/locker/${locker.locker_id}#access`, {}, (page) =>
      injectStandardWallet(page.context(), { key, rpcUrl: '' }),
    )
    await page.getByRole('button', { name: 'Test wallet' }).click()
    await click(page, 'Sign each time')
    await page.getByText('Only the owner can see it, with one signature.').waitFor()
    await expect.poll(() => wallet.seen.length).toBe(2) // For the locker, and for its files.
    await click(page, 'Show the list')
    await page.getByText('7 ways').waitFor()
    await way(page, 'for Ada')
      .getByRole('button', { name: /^End: / })
      .click()
    await confirm(page, 'End')
    await page.getByText('6 ways').waitFor()
    expect(wallet.seen.length).toBe(4)
  })
})

describe('the request that ends a way in', () => {
  const id = 'abc'
  const base = '/v1/lockers/locker_000000000001'
  const known = (end: AccessEntry['end'], of: string | null = id) => endingOf('locker_000000000001', { id: of, end })

  it.each<[NonNullable<AccessEntry['end']>, ReturnType<typeof known>]>([
    [{ method: 'DELETE', path: `${base}/shares/abc` }, 'share'],
    [{ method: 'DELETE', path: `${base}/operators/abc` }, 'operator'],
    [{ method: 'DELETE', path: `${base}/s3/keys/abc` }, 's3_key'],
    [{ method: 'DELETE', path: '/v1/s3/keys/abc?wallet=x' }, 'wallet_s3_key'],
    [{ method: 'POST', path: `${base}/public-link`, body: { action: 'close' } }, 'public_link'],
    [{ method: 'POST', path: `${base}/revoke` }, 'everything'],
    [{ method: 'POST', path: `${base}/public-link`, body: { action: 'rotate' } }, null],
    [{ method: 'DELETE', path: `${base}/files/abc` }, null],
    [{ method: 'DELETE', path: `${base}/shares/other` }, null],
    [{ method: 'DELETE', path: '/v1/lockers/locker_000000000002/shares/abc' }, null],
    [{ method: 'POST', path: '/v1/lockers/locker_000000000002/revoke' }, null],
  ])('T-28 ADD-62 is signed only if the page knows it: %j', (end, ending) => {
    expect(known(end)).toBe(ending)
    expect([known(null), known({ method: 'DELETE', path: `${base}/shares/null` }, null)]).toEqual([null, null])
  })
})
