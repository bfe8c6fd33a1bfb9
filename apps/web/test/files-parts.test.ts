// The parts of the locker page that decide about files, with a real gateway but without a browser.

import { listFiles } from '@svc/api/files'
import { forAllTests } from '@svc/devnet/for-tests'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { seedLocker } from '@svc/devnet/services/seed-lockers'
import { ed25519Signer } from '@svc/protocol/keys'
import { createClient, type Locker, SMALL_FILE_BYTES } from '@svc/sdk'
import { NameTaken } from '@svc/sdk/errors'
import { signerFromSolanaKeypair } from '@svc/sdk/signers'
import { expect, it } from 'vitest'
import { createDeletions } from '../src/pages/locker/files/deletions.ts'
import type { Entry } from '../src/pages/locker/files/sorting.ts'
import { continuedUploads } from '../src/pages/locker/files/uploads/continued.ts'
import { type Chosen, chosenByDrop } from '../src/pages/locker/files/uploads/dropped.ts'
import { createIntake } from '../src/pages/locker/files/uploads/intake.ts'
import type { ConflictChoice } from '../src/pages/locker/files/uploads/plan.ts'
import { createUploads } from '../src/pages/locker/files/uploads/queue.ts'
import type { Encrypt } from '../src/pages/locker/files/uploads/upload-list.ts'

const gateway = forAllTests(() => startTestGateway())

const NO_EVENTS = { onStored() {}, onSettled() {} }
const bytes = (text: string) => new TextEncoder().encode(text)

/** A locker with these files, whose requests can be delayed. */
async function newLocker(files: Record<string, string> = {}) {
  const seed = crypto.getRandomValues(new Uint8Array(32))
  const signer = signerFromSolanaKeypair([...seed, ...ed25519Signer(seed).publicKey])
  const row = await seedLocker(gateway.context, { owner: signer.address })
  const locker: Locker = { locker_id: row.locker_id, receipt_id: row.receipt_id }
  const answered: string[] = []
  const holds = new Set<{ method: string; released: Promise<void>; arrived: () => void }>()
  const client = createClient({
    baseUrl: gateway.url,
    signer,
    onWarning: () => {},
    async fetch(input, init) {
      const method = init?.method ?? 'GET'
      for (const hold of holds)
        if (hold.method === method) {
          hold.arrived()
          await hold.released
        }
      const answer = await fetch(input, init)
      answered.push(`${method} ${new URL(String(input)).search}`)
      return answer
    },
  })
  for (const [name, text] of Object.entries(files)) await client.put(locker, name, bytes(text))

  function hold(method: string) {
    const release = Promise.withResolvers<void>()
    const arrival = Promise.withResolvers<void>()
    const held = { method, released: release.promise, arrived: arrival.resolve }
    holds.add(held)
    const resume = () => {
      holds.delete(held)
      release.resolve()
    }
    return { arrival: arrival.promise, release: resume }
  }
  const entries = async (): Promise<Map<string, Entry>> => {
    const query = { folders: true, limit: 500 }
    const { body } = await client.call(listFiles, { params: { locker_id: locker.locker_id }, query })
    const found: Entry[] = [
      ...body.files.map((file) => ({ kind: 'file' as const, name: file.filename, file })),
      ...(body.folders ?? []).map((name) => ({ kind: 'folder' as const, name })),
    ]
    return new Map(found.map((entry) => [entry.name, entry]))
  }
  const contents = async () => {
    const found: Record<string, string> = {}
    for await (const { filename } of client.files(locker))
      found[filename] = new TextDecoder().decode(await (await client.get(locker, filename)).bytes())
    return found
  }
  return { locker, client, answered, hold, entries, contents }
}

const chosen = (names: readonly string[], text = 'new'): Chosen => ({
  files: names.map((path) => ({ path, file: new File([text], path), handle: null })),
  unreadable: [],
})

it('T-17 a pending deletion removes the files as they were at the click, and no newer ones', async () => {
  const files = { 'a.txt': 'old', 'same.txt': 'same', 'gone.txt': 'x', 'docs/x': 'x', 'docs/deep/y': 'y' }
  const { locker, client, answered, entries, contents } = await newLocker(files)
  const listed = await entries()
  let reread = 0
  const deletions = createDeletions(client, locker, async () => void reread++)
  answered.length = 0
  deletions.remove(['a.txt', 'same.txt', 'gone.txt', 'docs/'].map((name) => listed.get(name) as Entry))
  expect([...deletions.hidden.value]).toEqual(['a.txt', 'same.txt', 'gone.txt', 'docs/'])
  expect(['docs/x', 'a.txt', 'other', 'docs'].map(deletions.isPending)).toEqual([true, true, false, false])
  await expect.poll(() => answered.some((request) => request.includes('prefix=docs'))).toBe(true)

  await client.put(locker, 'a.txt', bytes('newer, by another page'))
  await client.put(locker, 'docs/new', bytes('landed meanwhile'))
  await deletions.release(['same.txt'])
  await client.put(locker, 'same.txt', bytes('same'))
  await client.remove(locker, 'gone.txt')
  expect(deletions.pending.value?.names.size).toBe(3)
  await deletions.flush()
  const left = { 'a.txt': 'newer, by another page', 'docs/new': 'landed meanwhile', 'same.txt': 'same' }
  expect(await contents()).toEqual(left)
  expect([deletions.skipped.value, deletions.failed.value, deletions.hidden.value.size, reread]).toEqual([
    1,
    null,
    0,
    1,
  ])
})

it('T-17 an upload waits for a running deletion of its name, and replaces a pending one', async () => {
  const { locker, client, hold, entries, contents } = await newLocker({ 'a.txt': 'old', 'b.txt': 'old' })
  const deletions = createDeletions(client, locker, async () => {})
  const uploads = createUploads(async () => client, locker, NO_EVENTS)
  const asked: (readonly string[])[] = []
  const ask = async (names: readonly string[]): Promise<ConflictChoice> => {
    asked.push(names)
    return 'replace'
  }
  const { take } = createIntake({ client, locker, uploads, deletions, ask })
  const listed = await entries()
  deletions.remove([listed.get('a.txt') as Entry])
  const held = hold('DELETE')
  const flushed = deletions.flush()
  await held.arrival
  deletions.remove([listed.get('b.txt') as Entry])
  const taken = take({ chosen: chosen(['a.txt', 'b.txt']), folder: '', encrypt: null })
  await expect.poll(() => deletions.pending.value).toBe(null)
  expect(uploads.totals().files).toBe(0)
  held.release()
  await Promise.all([flushed, taken])
  await expect.poll(() => uploads.totals().doneFiles).toBe(2)
  expect([await contents(), asked]).toEqual([{ 'a.txt': 'new', 'b.txt': 'new' }, []])
})

it('FILE-12 choices wait for one another, and names of running uploads count as taken', async () => {
  const { locker, client, contents } = await newLocker({ 'a.txt': 'old' })
  const opened = Promise.withResolvers<void>()
  const uploads = createUploads(() => opened.promise.then(() => client), locker, NO_EVENTS)
  const questions: { names: readonly string[]; answer: (choice: ConflictChoice | null) => void }[] = []
  const ask = (names: readonly string[]) =>
    new Promise<ConflictChoice | null>((answer) => questions.push({ names, answer }))
  const deletions = createDeletions(client, locker, async () => {})
  const { take } = createIntake({ client, locker, uploads, deletions, ask })
  const first = take({ chosen: chosen(['a.txt', 'b.txt'], 'first'), folder: '', encrypt: null })
  const second = take({ chosen: Promise.resolve(chosen(['b.txt'], 'second')), folder: '', encrypt: null })
  const unreadable = { files: [], unreadable: ['broken/'] }
  const third = take({ chosen: unreadable, folder: '', encrypt: null })
  await expect.poll(() => questions.map(({ names }) => names)).toEqual([['a.txt']])
  // Another client takes the other name while the question is open.
  await client.put(locker, 'b.txt', bytes('elsewhere'))
  questions[0]?.answer('replace')
  await expect.poll(() => questions[1]?.names).toEqual(['b.txt'])
  questions[1]?.answer('keep-both')
  await first
  await expect.poll(() => questions[2]?.names).toEqual(['b.txt'])
  questions[2]?.answer('skip')
  expect([await second, await third]).toEqual([
    { unreadable: [], isNothingLeft: true },
    { unreadable: ['broken/'], isNothingLeft: false },
  ])
  const fourth = take({ chosen: chosen(['a.txt'], 'again'), folder: '', encrypt: null })
  await expect.poll(() => questions[3]?.names).toEqual(['a.txt'])
  questions[3]?.answer(null)
  await fourth
  opened.resolve()
  await expect.poll(() => uploads.totals().doneFiles).toBe(2)
  expect(await contents()).toEqual({ 'a.txt': 'first', 'b.txt': 'elsewhere', 'b (2).txt': 'first' })
})

it('T-17 a file that another client stored meanwhile is not replaced: the visitor is asked, and may keep both', {
  tags: ['nightly'],
}, async () => {
  const { locker, client, contents } = await newLocker({ 'old.txt': 'old' })
  const opened = Promise.withResolvers<void>()
  const uploads = createUploads(() => opened.promise.then(() => client), locker, NO_EVENTS)
  const asked: (readonly string[])[] = []
  const choices: (ConflictChoice | null)[] = ['replace', null, 'keep-both', 'replace']
  const ask = async (names: readonly string[]) => {
    asked.push(names)
    return choices.shift()!
  }
  const deletions = createDeletions(client, locker, async () => {})
  const { take, takeAgain } = createIntake({ client, locker, uploads, deletions, ask })
  const large = { path: 'large.bin', file: new File([new Uint8Array(9_000_000)], 'large.bin'), handle: null }
  const { files } = chosen(['free.txt', 'kept.txt', 'old.txt', 'lost.txt', 'same.txt'], 'mine')
  await take({ chosen: { files: [...files, large], unreadable: [] }, folder: '', encrypt: null })
  for (const name of ['kept.txt', 'lost.txt', 'large.bin']) await client.put(locker, name, bytes('theirs'))
  // The same bytes are no conflict: an earlier attempt may have been stored.
  await client.put(locker, 'same.txt', bytes('mine'))
  opened.resolve()
  await expect.poll(() => uploads.totals()).toMatchObject({ isActive: false, doneFiles: 3, failedFiles: 3 })
  const theirs = { 'kept.txt': 'theirs', 'lost.txt': 'theirs', 'large.bin': 'theirs' }
  expect(await contents()).toEqual({ ...theirs, 'free.txt': 'mine', 'old.txt': 'mine', 'same.txt': 'mine' })

  const failed = (name: string) => uploads.first(6).find(({ filename }) => filename === name)!
  expect(failed('large.bin').error).toBeInstanceOf(NameTaken)
  await takeAgain(failed('kept.txt'))
  expect(failed('kept.txt').state).toBe('failed')
  await takeAgain(failed('kept.txt'))
  await takeAgain(failed('lost.txt'))
  await expect.poll(() => uploads.totals()).toMatchObject({ isActive: false, doneFiles: 5, failedFiles: 1 })
  expect(asked).toEqual([['old.txt'], ['kept.txt'], ['kept.txt'], ['lost.txt']])
  const mine = ['free.txt', 'kept (2).txt', 'lost.txt', 'old.txt', 'same.txt'].map((name) => [name, 'mine'])
  expect(await contents()).toEqual({ ...theirs, ...Object.fromEntries(mine) })
})

it('T-68 ended uploads send no more requests and accept no more files', async () => {
  const { locker, client, hold, contents } = await newLocker()
  const stored: string[] = []
  const uploads = createUploads(async () => client, locker, { ...NO_EVENTS, onStored: (name) => stored.push(name) })
  const held = hold('PUT')
  const about = { file: new File(['x'], 'x'), handle: null, encrypt: null, mayReplace: true }
  const plain = (filename: string) => ({ ...about, filename })
  uploads.add([plain('one'), plain('two')])
  await held.arrival
  expect([uploads.isUploading('one'), uploads.totals().isActive]).toEqual([true, true])
  uploads.end()
  uploads.add([plain('three')])
  expect(uploads.totals()).toMatchObject({ files: 0, bytes: 0, doneBytes: 0, isActive: false })
  held.release()
  const files = async () => Object.values(await contents().catch(() => ({ refused: '' })))
  expect([uploads.isUploading('one'), stored, (await files()).includes('x')]).toEqual([false, [], false])
})

it('T-11 a large file is read a few parts ahead of the gateway, and never held completely in memory', async () => {
  const { locker, client } = await newLocker()
  const uploads = createUploads(async () => client, locker, NO_EVENTS)
  const size = 7 * SMALL_FILE_BYTES
  let ahead = 0
  let largest = 0
  const slice = (start: number, end: number) => {
    ahead = Math.max(ahead, start - uploads.first(1)[0]!.doneBytes)
    largest = Math.max(largest, end - start)
    return new Blob([new Uint8Array(Math.min(end, size) - start)])
  }
  const file = Object.defineProperties(new File([], 'large.bin'), { size: { value: size }, slice: { value: slice } })
  uploads.add([{ filename: 'large.bin', file, handle: null, encrypt: null, mayReplace: false }])
  await expect.poll(() => uploads.totals().doneFiles).toBe(1)
  // Four parts are being sent while the next one is read, never the whole file.
  expect(ahead).toBeLessThan(5 * SMALL_FILE_BYTES)
  expect(largest).toBe(1024 * 1024)
})

it('T-59 an encrypted upload continues only with the key that was used at the click', () => {
  const file = new File(['secret'], 'a.txt', { lastModified: 5 })
  const record = (filename: string, isEncrypted: boolean, size = 6) => ({
    record: { filename, isEncrypted, size, lastModified: 5 },
    file,
    handle: null,
  })
  const found = [record('a.txt.age', true), record('b.txt', false), record('c.txt.age', true, 7)]
  const encrypt: Encrypt = async () => Promise.reject(new Error('is not called here'))
  const started = (key: Encrypt | null) => {
    const { files, changed } = continuedUploads(found, key)
    return [files.map((upload) => [upload.filename, upload.encrypt]), changed]
  }
  expect(started(null)).toEqual([[['b.txt', null]], 1])
  expect(started(encrypt)).toEqual([[...[['a.txt.age', encrypt]], ['b.txt', null]], 1])
})

it('FILE-12 accepts the readable part of a dropped folder, and names the rest', async () => {
  const fails = async () => {
    throw new DOMException('not allowed', 'NotReadableError')
  }
  const file = (name: string, getFile = async () => new File(['x'], name)) => ({ kind: 'file', name, getFile })
  const directory = (name: string, children: readonly object[], end: () => Promise<void> = async () => {}) => ({
    kind: 'directory',
    name,
    async *[Symbol.asyncIterator]() {
      for (const child of children) yield [name, child]
      await end()
    },
  })
  const root = directory('photos', [
    file('a.txt'),
    file('locked.txt', fails),
    directory('closed', [file('first.txt')], fails),
    file('z.txt'),
  ])
  const entry = {
    name: 'old',
    isFile: false,
    createReader: () => {
      const batches = [[{ name: 'bad', isFile: true, file: (_: unknown, reject: () => void) => reject() }], []]
      return { readEntries: (resolve: (some: unknown) => void) => resolve(batches.shift()) }
    },
  }
  const item = (handle: object | null, old: object | null) => ({
    kind: 'file',
    getAsFileSystemHandle: async () => handle,
    webkitGetAsEntry: () => old,
    getAsFile: () => null,
  })
  const transfer = { items: [item(root, null), item(null, entry)] } as unknown as Pick<DataTransfer, 'items'>
  const { files, unreadable } = await chosenByDrop(transfer)
  expect([files.map(({ path }) => path), unreadable]).toEqual([
    ['photos/a.txt', 'photos/closed/first.txt', 'photos/z.txt'],
    ['photos/locked.txt', 'photos/closed/', 'old/bad'],
  ])
})
