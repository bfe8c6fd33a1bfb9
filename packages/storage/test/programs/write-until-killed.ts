// Writes objects forever, eight at a time, and prints the id of each: first those of objects whose source
// never ends, with a question mark, then of each that is acknowledged.
import { randomBytes } from 'node:crypto'
import { writeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { openLocalProvider } from '../../src/local/open.ts'
import { knownBytes } from './known-bytes.ts'

const provider = await openLocalProvider({ folder: process.argv[2]! })

async function* inPieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 65_536) {
    yield bytes.subarray(at, at + 65_536)
    await setImmediate()
  }
}

/** Referenced here: otherwise pending writes are garbage, and their files are closed. */
const never = new Promise(() => {})

async function* withoutEnd(bytes: Buffer) {
  yield* inPieces(bytes)
  await never
}

async function write(id: string, source: AsyncGenerator<Buffer>) {
  await provider.write(id, Readable.from(source, { objectMode: false }), { contentType: 'text/plain', size: null })
  writeSync(1, `${id}\n`)
}

const newId = () => randomBytes(16).toString('hex')
for (let i = 0; i < 4; i++) {
  const id = newId()
  writeSync(1, `${id}?\n`)
  void write(id, withoutEnd(knownBytes(id)))
}
for (let i = 0; i < 8; i++) void writeForEver()

async function writeForEver() {
  for (;;) {
    const id = newId()
    await write(id, inPieces(knownBytes(id)))
  }
}
