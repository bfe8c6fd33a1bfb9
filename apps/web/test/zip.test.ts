import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type ZipEntry, zipStream } from '../src/pages/locker/files/zip.ts'
import { useFolder } from './site.ts'

const folder = useFolder()

/** A file that arrives in small pieces. */
const entry = (name: string, bytes: Uint8Array, changedAt = new Date(2026, 10, 19, 12, 30, 20)): ZipEntry => ({
  changedAt,
  open: async () => ({
    name,
    stream: new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 1000) controller.enqueue(bytes.subarray(at, at + 1000))
        controller.close()
      },
    }),
  }),
})

/** Lists an archive with another implementation, which checks it first. */
function readBack(name: string, archive: Uint8Array) {
  const path = join(folder, name)
  writeFileSync(path, archive)
  const program = `
import sys, json, zipfile, hashlib
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
print(json.dumps([[i.filename, list(i.date_time), i.CRC, hashlib.sha256(z.read(i)).hexdigest()] for i in z.infolist()]))`
  return JSON.parse(execFileSync('python3', ['-c', program, path], { encoding: 'utf8' }))
}

const bytesOf = async (entries: ZipEntry[]) => new Uint8Array(await new Response(zipStream(entries)).arrayBuffer())

describe('a zip archive', () => {
  it('FILE-13 is read by another implementation, with its names, times, sizes and checksums', async () => {
    const files: [string, Uint8Array][] = [
      ['docs/letter.txt', Buffer.from('a letter')],
      ['empty', new Uint8Array()],
      ['Grüße 日本 😀.bin', randomBytes(100_001)],
    ]
    const archive = await bytesOf(files.map(([name, bytes]) => entry(name, bytes)))
    expect(readBack('some.zip', archive)).toEqual(
      files.map(([name, bytes]) => [
        name,
        [2026, 11, 19, 12, 30, 20],
        crc32(bytes),
        createHash('sha256').update(bytes).digest('hex'),
      ]),
    )
  })

  it('may be empty, have many files, and files from before 1980', async () => {
    expect(readBack('empty.zip', await bytesOf([]))).toEqual([])
    const many = Array.from({ length: 1000 }, (_, i) => entry(`file-${i}`, Buffer.from(String(i)), new Date(0)))
    const listed = readBack('many.zip', await bytesOf(many))
    expect([listed.length, listed[999][0], listed[0][1]]).toEqual([1000, 'file-999', [1980, 1, 1, 0, 0, 0]])
  })

  it('ends with the error of a file, and closes files when it is cancelled', async () => {
    const broken = { changedAt: new Date(), open: () => Promise.reject(new Error('gone')) }
    await expect(bytesOf([entry('a', Buffer.from('a')), broken])).rejects.toThrow('gone')
    let isClosed = false
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: () => {
        isClosed = true
      },
    })
    const endless = { changedAt: new Date(), open: async () => ({ name: 'c', stream }) }
    const reader = zipStream([endless]).getReader()
    for (let i = 0; i < 5; i++) await reader.read()
    await reader.cancel()
    expect(isClosed).toBe(true)
  })
})
