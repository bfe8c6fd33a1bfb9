import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startProcess } from '@svc/devnet/start-process'
import { describe, expect, it } from 'vitest'
import { type Journal, journalEntry, memoryJournal, storageJournal } from '../src/journal.ts'
import { fileJournal } from '../src/node/file-journal.ts'
import { useFolder } from './lockers.ts'

const folder = useFolder()

function webStorage() {
  const items = new Map<string, string>()
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  }
}

const journals: [string, () => Journal][] = [
  ['in memory', memoryJournal],
  ['in web storage', () => storageJournal(webStorage())],
  ['in a folder', () => fileJournal(join(folder, 'all', String(Math.random())))],
]

describe.each(journals)('a journal %s', (_, make) => {
  it('returns the last written value', async () => {
    const journal = make()
    expect(await journal.get('a')).toBeNull()
    expect(await journal.put('a', 'one', null)).toBe(true)
    expect(await journal.put('a', 'two', 'one')).toBe(true)
    expect(await journal.get('a')).toBe('two')
    expect(await journal.put('a', null, 'two')).toBe(true)
    expect(await journal.get('a')).toBeNull()
    expect(await journal.put('a', 'again', null)).toBe(true)
  })

  it('refuses a write that does not expect the newest value', async () => {
    const journal = make()
    await journal.put('a', 'one', null)
    for (const stale of [null, 'zero', ''])
      expect(await journal.put('a', 'mine', stale), JSON.stringify(stale)).toBe(false)
    expect(await journal.put('b', 'mine', 'one')).toBe(false)
    expect([await journal.get('a'), await journal.get('b')]).toEqual(['one', null])
  })

  it('T-67 loses no concurrent change of an entry', async () => {
    const journal = make()
    const add = () => journalEntry<number[]>(journal, 'a').update((all) => [...(all ?? []), all?.length ?? 0])
    await Promise.all(Array.from({ length: 20 }, add))
    expect(await journalEntry<number[]>(journal, 'a').read()).toEqual(Array.from({ length: 20 }, (_, i) => i))
  })

  it.each([
    ['a path', '../../etc/passwd'],
    ['an empty one', ''],
    ['a long one', 'ü'.repeat(3000)],
    ['a null character', '\0'],
  ])('accepts any key: %s', async (_, key) => {
    const journal = make()
    expect(await journal.put(key, key, null)).toBe(true)
    expect(await journal.get(key)).toBe(key)
    expect(await journal.get(`${key}.`)).toBeNull()
  })
})

describe('a journal in a folder', () => {
  it('persists for the next process and is readable only by its owner', async () => {
    const place = join(folder, 'next')
    await fileJournal(place).put('a', 'kept', null)
    expect(await fileJournal(place).get('a')).toBe('kept')
    const made = await readdir(place, { recursive: true })
    expect(made).toHaveLength(2)
    for (const path of ['.', ...made]) expect((await stat(join(place, path))).mode & 0o077).toBe(0)
  })

  it('ignores a write that a crash left incomplete', async () => {
    const place = join(folder, 'crash')
    await fileJournal(place).put('a', 'one', null)
    const [entry = ''] = await readdir(place)
    await writeFile(join(place, entry, 'draft-0'), '{"key":"a","val')
    expect(await fileJournal(place).get('a')).toBe('one')
    expect(await fileJournal(place).put('a', 'two', 'one')).toBe(true)
    expect(await fileJournal(place).get('a')).toBe('two')
  })

  it('loses no write of four concurrent processes that count to 200', { tags: ['nightly'] }, async () => {
    const place = join(folder, 'processes')
    const program = new URL('./programs/count-in-journal.ts', import.meta.url)
    const counters = Array.from({ length: 4 }, () => startProcess(program, { args: [place, '50'] }))
    for (const { ended } of counters) expect(await ended).toMatchObject({ code: 0, stderr: '' })
    expect(await fileJournal(place).get('count')).toBe('200')
  })
})
