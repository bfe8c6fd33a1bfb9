import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { codeOf, type TestServer, type TransportName, textOf } from './client.ts'
import { type Chain, useShop } from './shop.ts'

const shop = useShop()

describe.each<[TransportName, Chain, 'USDC' | 'USDC on EVM']>([
  ['stdio', 'solana', 'USDC'],
  ['http', 'evm', 'USDC on EVM'],
])('over %s, paying on the %s chain', (transport, chain, held) => {
  let server: TestServer
  beforeAll(async () => {
    server = await shop.start(transport, chain)
  })

  /** The amount that the treasury receives while `work` runs. */
  async function gain(work: () => Promise<unknown>): Promise<bigint> {
    const before = await shop.market.treasury(held)
    await work()
    return (await shop.market.treasury(held)) - before
  }

  it('ADD-16 a quote costs nothing, buy pays once however often it is called, and list_lockers has the locker', {
    tags: ['nightly'],
  }, async () => {
    const order = { units: 1, provider: 'mongodb' }
    const quoted = await gain(async () => expect(await server.call('quote', order)).toMatchObject(order))
    let first: Record<string, unknown> = {}
    const paid = await gain(async () => {
      first = await server.call('buy', order)
      const again = await server.ask('buy', order)
      expect(again.structuredContent).toMatchObject({ ...first, new_payment: false })
      expect(textOf(again)).toContain('Already paid: no new payment was made')
    })
    expect([quoted, paid]).toEqual([0n, 125_000n])
    const { receipt_id, intent } = first
    expect(first).toMatchObject({ new_payment: true, paid: { asset: 'USDC' } })
    const status = { state: 'complete', receipt_id, payments: [{ outcome: 'landed', fate: 'landed' }] }
    expect(await server.call('purchase_status', { intent })).toMatchObject(status)
    const found = await server.ask('list_lockers')
    const listed = expect.objectContaining({ receipt_id, role: 'owner', opened: true })
    expect(found.structuredContent).toMatchObject({ lockers: expect.arrayContaining([listed]) })
    expect(textOf(found)).toMatch(new RegExp(`receipt_id: ${receipt_id}.*provider: mongodb`, 's'))
  })

  it('T-01 three simultaneous calls with the same intent pay once, and another order under it pays nothing', {
    tags: ['nightly'],
  }, async () => {
    const intent = `at once over ${transport}`
    const paid = await gain(async () => {
      const bought = await Promise.all([1, 2, 3].map(() => server.call('buy', { units: 1, intent })))
      expect(new Set(bought.map(({ receipt_id }) => receipt_id)).size).toBe(1)
      expect(bought.filter(({ new_payment }) => new_payment)).toHaveLength(1)
      expect(await server.ask('buy', { units: 2, intent })).toMatchObject({ isError: true })
    })
    expect(paid).toBe(250_000n)
  })

  it('another intent is a new purchase, and purchase_status lists both', { tags: ['nightly'] }, async () => {
    const intents = [`one over ${transport}`, `another over ${transport}`]
    const paid = await gain(async () => {
      for (const intent of intents) await server.call('buy', { units: 1, intent })
    })
    expect(paid).toBe(500_000n)
    const { purchases } = (await server.call('purchase_status')) as { purchases: { intent: string }[] }
    expect(purchases.map(({ intent }) => intent)).toEqual(expect.arrayContaining(intents))
  })
})

describe('the files of a locker', () => {
  const filename = 'a/notes.txt'
  let server: TestServer
  let receipt_id: string
  beforeAll(async () => {
    server = await shop.start('memory', 'solana')
    await writeFile(join(shop.desk.root, 'notes.txt'), 'what an agent keeps')
  })
  beforeEach(async () => {
    receipt_id = await shop.locker()
  })

  const put = () => server.call('put_file', { receipt_id, filename, path: 'notes.txt' })
  const link = async (isPublic: boolean) => {
    const result = await server.ask('get_link', { receipt_id, filename, ...(isPublic && { public: true }) })
    return { ...(result.structuredContent as Record<'download_url' | 'public_url', string>), text: textOf(result) }
  }
  const fetched = async (url: string) => (await fetch(url)).status

  it('are listed, attested and verified', async () => {
    const { content_hash, ...stored } = await put()
    expect(stored).toMatchObject({ stored: true, size_bytes: 19 })
    const listed = await server.ask('list_files', { receipt_id })
    expect(listed.structuredContent).toMatchObject({ files: [{ filename, content_hash }] })
    expect(textOf(listed)).toMatch(new RegExp(`filename: ${filename}, .*${content_hash}`))
    const statement = await server.call('attest', { receipt_id })
    expect(statement).toMatchObject({ sequence: 1, file_count: 1, unchanged: false })
    expect(Object.values(statement).filter((value) => /^http.*rcpt_/.test(String(value)))).toEqual([])
    expect(await server.call('attest', { receipt_id })).toMatchObject({ sequence: 1, unchanged: true })
    expect(await server.call('verify', { receipt_id })).toMatchObject({ failed: [], statement: { sequence: 1 } })
  })

  it('T-36 T-49 have temporary links and a public one, which are revoked, rotated and closed', async () => {
    await put()
    const temporary = await link(false)
    expect(temporary).toMatchObject({ public_url: null, expires_in_sec: 86_400 })
    expect(temporary.text).toContain('opens only this file, for 1 day.')
    expect(temporary.text).not.toContain(receipt_id)
    // The link is readable: it names the file, and not the receipt.
    const token = Buffer.from(temporary.download_url.split('/f/')[1] ?? '', 'base64url').toString('latin1')
    expect([token.includes(filename), token.includes(receipt_id)]).toEqual([true, false])
    const { contents } = await server.client.readResource({ uri: 'svc://help' })
    expect(contents[0]).toMatchObject({ text: expect.stringMatching(/`get_link` .* does not name the receipt\.$/m) })
    expect(await server.call('get_link', { receipt_id, filename, ttl_min: 5 })).toMatchObject({ expires_in_sec: 300 })
    const shared = await link(true)
    for (const url of [shared.download_url, shared.public_url])
      expect(await (await fetch(url)).text()).toBe('what an agent keeps')
    expect(shared.text).toContain(
      'Anyone with this link can open every file in the locker. Once the locker is attested, the evidence at the same id lists all file names, sizes and hashes.',
    )

    expect(await server.call('revoke_urls', { receipt_id })).toEqual({ receipt_id, revoked: true })
    expect(await fetched(shared.download_url)).toBe(403)
    const { id } = await server.call('public_link', { receipt_id, action: 'rotate' })
    const rotated = await link(true)
    expect(rotated.text).toContain('Anyone with this link can open every file in the locker whose name they know.')
    expect(rotated.public_url).toContain(id)
    expect([await fetched(shared.public_url), await fetched(rotated.public_url)]).toEqual([404, 200])
    await server.call('public_link', { receipt_id, action: 'close' })
    const closed = { public_url: null, text: expect.stringContaining('The public link is closed') }
    expect(await link(true)).toMatchObject(closed)
  })

  it('are written, read and deleted as text that a model made, and can be read as resources', async () => {
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

  it('FILE-01 have the type that the listing promises when none is given', async () => {
    await writeFile(join(shop.desk.root, 'plain'), 'x')
    await server.call('put_file', { receipt_id, filename: 'put.unknown', path: 'plain' })
    await server.call('put_file', { receipt_id, filename: 'put.html', path: 'plain' })
    await server.call('write_text', { receipt_id, filename: 'written.unknown', text: 'x' })
    const { files } = (await server.call('list_files', { receipt_id })) as { files: Record<string, string>[] }
    expect(Object.fromEntries(files.map(({ filename, content_type }) => [filename, content_type]))).toEqual({
      'put.html': 'text/html',
      'put.unknown': 'application/octet-stream',
      'written.unknown': 'text/plain',
    })
  })

  it('are not read as text when they are binary, or too large for a conversation', async () => {
    const bytes = { 'image.png': Buffer.from([0x89, 0x50, 0xff]), 'long.txt': Buffer.alloc(256 * 1024 + 1, 'a') }
    for (const [name, content] of Object.entries(bytes)) {
      await writeFile(join(shop.desk.root, name), content)
      await server.call('put_file', { receipt_id, filename: name, path: name })
    }
    const read = async (name: string) => codeOf(await server.ask('read_file', { receipt_id, filename: name }))
    expect([await read('image.png'), await read('long.txt')]).toEqual(['not_text', 'file_too_large'])
    const { contents } = await server.client.readResource({ uri: `svc://lockers/${receipt_id}/image.png` })
    expect(contents).toMatchObject([{ mimeType: 'image/png', blob: bytes['image.png'].toString('base64') }])
  })
})
