import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { forEachTest } from '@svc/devnet/for-tests'
import { startProcess } from '@svc/devnet/start-process'
import { describe, expect, it } from 'vitest'
import { openLocalProvider } from '../../src/local/open.ts'
import { newId } from '../objects.ts'
import { knownBytes } from '../programs/known-bytes.ts'
import { openTestFolder } from './open-folder.ts'

const MIB = 1024 * 1024

const at = forEachTest(() => openTestFolder())

it('the local driver loses no acknowledged object and shows no incomplete one when the process is killed', {
  tags: ['nightly'],
}, async () => {
  for (const acknowledgedBeforeKill of [0, 1, 40]) {
    const { acknowledged, endless } = await writeUntilKilled(at.folder, acknowledgedBeforeKill)
    const reopened = await openLocalProvider({ folder: at.folder })
    const visible = await at.objects()
    expect(visible).toEqual(expect.arrayContaining(acknowledged))
    // Up to eight objects may have become durable without having been acknowledged.
    expect(visible.length - acknowledged.length).toBeLessThanOrEqual(8)
    for (const id of endless) expect(visible).not.toContain(id)
    for (const id of visible) expect(knownBytes(id).equals(await readFile(at.objectPath(id)))).toBe(true)

    const left = await at.incoming()
    expect(left).toEqual(expect.arrayContaining(acknowledgedBeforeKill > 0 ? endless : []))
    for (const id of [...left, ...visible]) expect(await reopened.remove({ id, ref: null })).toBe('removed')
    expect([...(await at.incoming()), ...(await at.objects())]).toEqual([])
  }
})

// A full disk needs privileges. A limit on the length of files does not, and beyond it the kernel behaves as on a full
// disk: it truncates one write, then fails. `write.test.ts` shows the error of a full disk itself on /dev/full.
describe('the local driver on a full disk', () => {
  async function writeWithin(blocks: number, lengths: number[]) {
    const objects = lengths.map((length) => ({ id: newId(), length }))
    const args = [
      fileURLToPath(program('write-until-full')),
      at.folder,
      ...objects.map(({ id, length }) => `${id}:${length}`),
    ]
    const limited = ['-c', `ulimit -f ${blocks} && exec "$0" "$@"`, process.execPath, ...args]
    const { stdout } = await startProcess('sh', { args: limited }).ended
    return { objects, outcomes: JSON.parse(stdout) }
  }

  it('keeps its objects, and stores nothing of one that does not fit', async () => {
    const limit = 4097 * 512
    const { objects, outcomes } = await writeWithin(4097, [1000, limit, limit + 1, limit + 1000, 8 * MIB, 1])
    expect(outcomes).toEqual([1000, limit, 'full', 'full', 'full', 1])
    const kept = objects.filter(({ length }) => length <= limit)
    expect(await at.objects()).toEqual(kept.map(({ id }) => id).sort())
    expect(await at.incoming()).toEqual([])
    for (const { id, length } of kept) {
      expect(Buffer.alloc(length, 7).equals(await readFile(at.objectPath(id)))).toBe(true)
    }
  })

  it('can be opened', async () => {
    const { outcomes } = await writeWithin(0, [1, 0])
    expect(outcomes).toEqual(['full', 0])
  })
})

function program(name: string): URL {
  return new URL(`../programs/${name}.ts`, import.meta.url)
}

async function writeUntilKilled(folder: string, acknowledgedBeforeKill: number) {
  const writer = startProcess(program('write-until-killed'), { args: [folder] })
  for (let i = 0; i < 4; i++) await writer.waitForLine(/^\w+\?$/)
  for (let i = 0; i < acknowledgedBeforeKill; i++) await writer.waitForLine(/^\w+$/)
  const { stdout } = await writer.kill()
  const lines = stdout.trimEnd().split('\n')
  const endless = lines.filter((line) => line.endsWith('?'))
  return {
    acknowledged: lines.filter((line) => !endless.includes(line)),
    endless: endless.map((line) => line.slice(0, -1)),
  }
}
