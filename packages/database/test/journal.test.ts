import { appendFile, chmod, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { forEachTest } from '@svc/devnet/for-tests'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it } from 'vitest'
import { recordPruned } from '../src/journal/folder.ts'
import { findLosses, hasLinesAfter, openJournal, readJournal } from '../src/journal/journal.ts'
import { createSealing } from '../src/journal/sealing.ts'

const sealing = createSealing(Buffer.alloc(32, 1))

const place = forEachTest(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-journal-'))
  return { folder, remove: () => rm(folder, { recursive: true }) }
})

const open = (history = 'a history') => openJournal({ folder: place.folder, sealing, history })

async function read(from: ReadonlyMap<string, number> = new Map(), by = sealing) {
  const found: (string | { problem: string })[] = []
  const ends = new Map<string, number>()
  for await (const { position: at, ...each } of readJournal(place.folder, by, from)) {
    found.push('entry' in each ? each.entry : each)
    ends.set(at.file, at.end)
  }
  return { found, ends }
}

async function files(): Promise<string[]> {
  return (await readdir(place.folder)).filter((name) => name.endsWith('.journal')).sort()
}

it('T-37 ADD-29 seals the entries of many callers, and reads them from any known position', async () => {
  const journal = await open()
  const entries = Array.from({ length: 300 }, (_, i) => `entry ${i} ${'x'.repeat(i)}`)
  await Promise.all(entries.map((entry) => journal.append([entry])))
  const before = await read()
  expect(before.found).toEqual(entries)
  expect([...before.ends]).toEqual(journal.positions().map(({ file, end }) => [file, end]))

  await journal.append(['later'])
  expect((await read(before.ends)).found).toEqual(['later'])
  await journal.switchHistory('another history of größe')
  await journal.append(['last'])
  await journal.close()
  const names = await files()
  expect(names).toHaveLength(2)
  const texts = await Promise.all(names.map((name) => readFile(join(place.folder, name), 'utf8')))
  expect(texts[1]).toContain('"database":"another history of größe"')
  expect(texts.join()).not.toContain('entry')
  expect((await stat(join(place.folder, names[0]!))).mode & 0o777).toBe(0o600)
  expect((await read(before.ends)).found).toEqual(['later', 'last'])
  const ends = new Map(journal.positions().map(({ file, end }) => [file, end]))
  expect((await read(ends)).found).toEqual([])
})

it('ADD-29 the journal reports each line that was damaged, moved, removed or sealed by another key, and reads the others', async () => {
  const journal = await open()
  for (const entry of ['one', 'two', 'three', 'four']) await journal.append([entry])
  await journal.close()
  const path = join(place.folder, (await files())[0]!)
  const [head, one, two, three, four] = (await readFile(path, 'utf8')).split('\n')
  const damaged = { problem: 'is damaged' }
  const readAs = async (...lines: (string | undefined)[]) => {
    await writeFile(path, lines.map((line) => `${line}\n`).join(''))
    return (await read()).found
  }
  const changed = `${two![0] === 'A' ? 'B' : 'A'}${two!.slice(1)}`
  expect(await readAs(head, one, changed, three, four)).toEqual(['one', damaged, 'three', 'four'])
  expect(await readAs(head, one, three, four)).toEqual(['one', damaged, 'four'])
  expect(await readAs(head, two, one, three)).toEqual([damaged, damaged, damaged])
  expect(await readAs(head?.replace('a history', 'b history'), one, two)).toEqual([damaged, 'two'])
  expect(await readAs(head?.replace('svc', 'svd'), one, two, three)).toEqual([damaged, damaged, 'two', 'three'])
  expect(await readAs(`${head}${one}`, two, three)).toEqual([damaged, 'two', 'three'])
  expect(await readAs(one, two)).toEqual([damaged, 'two'])
  expect(await hasLinesAfter(place.folder, (await files())[0]!, 0)).toBe(true)
  await readAs(head, one)
  expect((await read(new Map(), createSealing(Buffer.alloc(32, 2)))).found).toEqual([
    { problem: 'is sealed by another SHORT_URL_KEY' },
  ])
})

it('ADD-29 skips an entry that a crash truncated, and a file without a head', async () => {
  const journal = await open()
  await journal.append(['whole'])
  await journal.append(['cut off'])
  const { file, end } = journal.positions()[0]!
  await journal.close()
  await truncate(join(place.folder, file), end - 5)
  await appendFile(join(place.folder, '2020-01-01-1-00000000.journal'), 'svc-jour')
  expect((await read()).found).toEqual(['whole'])
})

it('ADD-29 skips an empty file that its process removes during reading', async () => {
  const journal = await open()
  await journal.append(['kept'])
  const idle = await open()
  const reading = readJournal(place.folder, sealing, new Map())
  expect((await reading.next()).value).toMatchObject({ entry: 'kept' })
  await idle.close()
  expect(await reading.next()).toMatchObject({ done: true })
  await journal.close()
})

it('ADD-29 T-37 the journal reports files that were shortened, or removed without having been pruned', async () => {
  const journal = await open()
  const names: string[] = []
  for (const history of ['one', 'two', 'three', 'four']) {
    await journal.switchHistory(history)
    await journal.append([history])
    names.push(journal.positions().at(-1)!.file)
  }
  const known = new Map(journal.positions().map(({ file, end }) => [file, end]))
  const [, pruned = '', gone = '', short = ''] = names
  expect(await findLosses(place.folder, known)).toEqual([])
  await recordPruned(place.folder, [pruned])
  for (const name of [pruned, gone]) await rm(join(place.folder, name))
  await truncate(join(place.folder, short), 30)
  expect(await findLosses(place.folder, known)).toEqual([
    { problem: 'is missing or empty', position: { file: gone, end: 0, isLoss: true } },
    { problem: 'is shorter than it was', position: { file: short, end: 30, isLoss: true } },
  ])

  expect(await journal.findLoss()).toEqual({ file: short, end: 30, isLoss: true })
  expect(await journal.findLoss()).toBe(null)
  await journal.append(['five'])
  await journal.close()
  expect((await files()).filter((name) => !names.includes(name))).toHaveLength(1)
  expect((await read()).found).toContain('five')
})

it('ADD-29 an entry that a full disk truncated damages no other entry', async () => {
  const program = fileURLToPath(new URL('./programs/fill-journal.ts', import.meta.url))
  // No file may have more than a kibibyte: writing fails in the middle of a line.
  const args = ['-c', 'ulimit -f 1; exec "$@"', 'bash', process.execPath, program, place.folder, '60']
  const [failures] = await startProcess('bash', { args }).waitForLine(/^\d+$/)
  expect(Number(failures)).toBeGreaterThan(1)
  expect(new Set((await read()).found)).toEqual(new Set(Array.from({ length: 60 }, (_, i) => `entry ${i + 1}`)))
})

it('ADD-29 T-37 the journal keeps a file that a full disk truncated, because other processes may have read a part of it', async () => {
  const program = fileURLToPath(new URL('./programs/fill-journal.ts', import.meta.url))
  const args = ['-c', 'ulimit -f 1; exec "$@"', 'bash', process.execPath, program, place.folder, '1', 'together']
  await startProcess('bash', { args }).waitForLine(/^1$/)
  expect((await read()).found).toEqual(expect.arrayContaining(['together 1', 'entry 1']))
})

it('ADD-29 the journal names a folder that it cannot write', async () => {
  const file = join(place.folder, 'file')
  await writeFile(file, '')
  await chmod(file, 0o400)
  const folder = join(file, 'journal')
  await expect(openJournal({ folder, sealing, history: 'a history' })).rejects.toThrow(`the folder ${folder} cannot be`)
})

it('T-37 a second gateway on another copy of the database does not start while the first runs', async () => {
  const program = new URL('./programs/hold-journal.ts', import.meta.url)
  const holder = startProcess(program, { args: [place.folder, 'one copy'] })
  await holder.waitForLine(/written/)

  await expect(open('another copy')).rejects.toThrow(`in use by process ${holder.pid} on`)
  const sharing = await open('one copy')
  await sharing.close()

  await holder.kill()
  const successor = await open('another copy')
  await successor.close()
  expect((await read()).found).toEqual(['an entry'])
})
