import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, type TestServer, type TransportName, textOf } from './client.ts'
import { type Chain, openShop, type Shop } from './shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.close())

describe.each<[TransportName, Chain, 'USDC' | 'USDC on EVM']>([
  ['stdio', 'solana', 'USDC'],
  ['http', 'evm', 'USDC on EVM'],
])('over %s, paying on the %s chain', (transport, chain, held) => {
  let server: TestServer
  beforeAll(async () => {
    server = await shop.start(transport, chain)
  })

  it('ADD-16 T-36 T-49 T-197 quote, buy, list_lockers, put_file, list_files, get_link, revoke_urls, public_link, attest and verify work in sequence', {
    tags: ['nightly'],
  }, async () => {
    const before = await shop.market.treasury(held)
    const price = await server.call('quote', { units: 1, provider: 'mongodb' })
    expect(price).toMatchObject({ units: 1, provider: 'mongodb' })
    expect(await shop.market.treasury(held)).toBe(before)

    const bought = await server.call('buy', { units: 1, provider: 'mongodb' })
    const paid = (await shop.market.treasury(held)) - before
    expect(bought).toMatchObject({ new_payment: true, paid: { asset: 'USDC' } })
    expect(paid > 0n && paid <= 1_000_000n).toBe(true)

    const { receipt_id } = bought
    const found = await server.ask('list_lockers')
    expect(found.structuredContent).toMatchObject({ lockers: [{ receipt_id, role: 'owner', opened: true }] })
    expect(textOf(found)).toMatch(new RegExp(`receipt_id: ${receipt_id}.*provider: mongodb`, 's'))
    await writeFile(join(shop.desk.root, 'notes.txt'), 'what an agent keeps')
    const put = await server.call('put_file', { receipt_id, filename: 'a/notes.txt', path: 'notes.txt' })
    expect(put).toMatchObject({ stored: true, size_bytes: 19 })
    const listed = await server.call('list_files', { receipt_id })
    expect(listed.files).toMatchObject([{ filename: 'a/notes.txt', content_hash: put.content_hash }])

    const listing = textOf(await server.ask('list_files', { receipt_id }))
    expect(listing).toMatch(new RegExp(`filename: a/notes.txt, .*${put.content_hash}`))

    const temporary = await server.ask('get_link', { receipt_id, filename: 'a/notes.txt' })
    expect(temporary.structuredContent).toMatchObject({ public_url: null })
    expect(JSON.stringify(temporary)).not.toContain(receipt_id)
    const shared = await server.ask('get_link', { receipt_id, filename: 'a/notes.txt', public: true })
    const link = shared.structuredContent as Record<string, unknown>
    for (const url of [link.download_url, link.public_url])
      expect(await (await fetch(String(url))).text()).toBe('what an agent keeps')
    expect(textOf(shared)).toContain(
      'Anyone with this link can open every file in the locker. Once the locker is attested, the evidence at the same id lists all file names, sizes and hashes.',
    )

    expect(await server.call('revoke_urls', { receipt_id })).toEqual({ receipt_id, revoked: true })
    expect((await fetch(String(link.download_url))).status).toBe(403)
    const { id } = await server.call('public_link', { receipt_id, action: 'rotate' })
    const rotated = await server.ask('get_link', { receipt_id, filename: 'a/notes.txt', public: true })
    expect(textOf(rotated)).toContain('Anyone with this link can open every file in the locker whose name they know.')
    const { public_url } = rotated.structuredContent as { public_url: string }
    expect([public_url, (await fetch(String(link.public_url))).status]).toEqual([expect.stringContaining(`${id}`), 404])
    expect((await fetch(String(public_url))).status).toBe(200)
    await server.call('public_link', { receipt_id, action: 'close' })
    const closed = await server.ask('get_link', { receipt_id, filename: 'a/notes.txt', public: true })
    expect(closed.structuredContent).toMatchObject({ public_url: null })
    expect(textOf(closed)).toContain('The public link is closed')

    const statement = await server.call('attest', { receipt_id })
    expect(statement).toMatchObject({ sequence: 1, file_count: 1, unchanged: false })
    expect(Object.values(statement).filter((value) => /^http.*rcpt_/.test(String(value)))).toEqual([])
    expect(await server.call('attest', { receipt_id })).toMatchObject({ sequence: 1, unchanged: true })

    const verified = await server.call('verify', { receipt_id })
    const facts = verified.facts as { fact: string; value: string }[]
    expect(verified).toMatchObject({ receipt_id, failed: [], refused: null, statement: { sequence: 1 } })
    const passed = facts.filter(({ value }) => value === 'passed').map(({ fact }) => fact)
    expect(passed).toEqual(
      expect.arrayContaining([
        'receipt_signed',
        'payment_on_chain',
        'bundle_names_receipt',
        'merkle_root_matches',
        'signature_valid',
        'key_pinned',
      ]),
    )
    expect(facts.every(({ value }) => value !== 'failed')).toBe(true)
  })

  it('write_text, read_file and delete_file work on text that a model made, and its resource can be read', async () => {
    const { receipt_id } = await server.call('buy', { units: 1, provider: 'mongodb' })
    const file = { receipt_id, filename: 'plän/ü 1.md' }
    const content = '# Plan\n\n- first\tstep\n'
    const written = await server.ask('write_text', { ...file, text: content })
    expect(written.structuredContent).toMatchObject({ content_type: 'text/markdown', size_bytes: content.length })
    const { uri } = written.content.find(({ type }) => type === 'resource_link') as { uri: string }
    expect((await server.client.readResource({ uri })).contents).toMatchObject([{ text: content, uri }])

    const read = await server.ask('read_file', file)
    expect(read.structuredContent).toMatchObject({ text: content, content_hash: expect.stringContaining('sha256:') })
    expect(textOf(read)).toContain('text: |\n  # Plan\n  \n  - first\tstep\n')

    expect(await server.call('delete_file', file)).toMatchObject({ deleted: true })
    expect(codeOf(await server.ask('read_file', file))).toBe('FILE_NOT_FOUND')
    await expect(server.client.readResource({ uri })).rejects.toThrow('FILE_NOT_FOUND')
  })

  it('read_file refuses what is not text, and what is too large for a conversation', async () => {
    const { receipt_id } = await server.call('buy', { units: 1, provider: 'mongodb' })
    const bytes = { 'image.png': Buffer.from([0x89, 0x50, 0xff]), 'long.txt': Buffer.alloc(256 * 1024 + 1, 'a') }
    for (const [filename, content] of Object.entries(bytes)) {
      await writeFile(join(shop.desk.root, filename), content)
      await server.call('put_file', { receipt_id, filename, path: filename })
    }
    const read = (filename: string) => server.ask('read_file', { receipt_id, filename })
    expect([codeOf(await read('image.png')), codeOf(await read('long.txt'))]).toEqual(['not_text', 'file_too_large'])
    const { contents } = await server.client.readResource({ uri: `svc://lockers/${receipt_id}/image.png` })
    expect(contents).toMatchObject([{ mimeType: 'image/png', blob: bytes['image.png'].toString('base64') }])
  })

  it('a repeated buy is the same purchase with one payment on chain, and the answer says so', async () => {
    const order = { units: 1, provider: 'mongodb' }
    const first = await server.call('buy', order)
    const before = await shop.market.treasury(held)
    const again = await server.ask('buy', order)
    expect(again.structuredContent).toMatchObject({ new_payment: false, receipt_id: first.receipt_id })
    expect(again.content).toMatchObject([{ text: expect.stringContaining('Already paid: no new payment was made') }])
    expect(await shop.market.treasury(held)).toBe(before)
    const status = await server.call('purchase_status', { intent: first.intent })
    expect(status).toMatchObject({
      state: 'complete',
      receipt_id: first.receipt_id,
      payments: [{ outcome: 'landed', fate: 'landed' }],
    })
  })

  it('T-16 three simultaneous calls with the same intent pay once', async () => {
    const before = await shop.market.treasury(held)
    const order = { units: 1, intent: `at once over ${transport}` }
    const bought = await Promise.all([1, 2, 3].map(() => server.call('buy', order)))
    const [amount] = bought.map(({ paid }) => (paid as { amount: string }).amount)
    expect(new Set(bought.map(({ receipt_id }) => receipt_id)).size).toBe(1)
    expect(bought.filter(({ new_payment }) => new_payment)).toHaveLength(1)
    expect(((await shop.market.treasury(held)) - before).toString()).toBe(String(Math.round(Number(amount) * 1e6)))
  })

  it('another intent is a new purchase, and purchase_status lists both', async () => {
    const first = await server.call('buy', { units: 1, provider: 'mongodb' })
    const other = await server.call('buy', { units: 1, provider: 'mongodb', intent: `another, over ${transport}` })
    expect(other).toMatchObject({ new_payment: true })
    expect(other.receipt_id).not.toBe(first.receipt_id)
    const { purchases } = await server.call('purchase_status')
    const intents = (purchases as { intent: string }[]).map(({ intent }) => intent)
    expect(intents).toEqual(expect.arrayContaining([first.intent, other.intent]))
  })

  it('an intent that belongs to another order is rejected, and nothing is paid', async () => {
    const intent = `changed over ${transport}`
    await server.call('buy', { units: 1, intent })
    const before = await shop.market.treasury(held)
    const result = await server.ask('buy', { units: 2, intent })
    expect(result.isError).toBe(true)
    expect(await shop.market.treasury(held)).toBe(before)
  })
})
