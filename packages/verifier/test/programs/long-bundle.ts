// For tests: writes a bundle with this number of files to disk, redacts it if names are given, and verifies it:
// `node long-bundle.ts 1000000`, optionally followed by `no_names` or by names of files.

import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { toHex, utf8 } from '@svc/protocol/bytes'
import { createFileCounter } from '../../src/file-list.ts'
import { redactBundle } from '../../src/redact-bundle.ts'
import { SIGNER, signedBundle } from '../bundles.ts'
import { pinnedKeys, verified } from '../pack.ts'

const CHUNK_FILES = 500

/** The file list comes first, then the statement about it. */
function* longBundle(count: number): Generator<Uint8Array> {
  const counter = createFileCounter()
  yield utf8('{"files":[')
  for (let start = 0; start < count; start += CHUNK_FILES) {
    const files = Array.from({ length: Math.min(CHUNK_FILES, count - start) }, (_, i) => {
      const number = String(start + i).padStart(8, '0')
      const content_hash = `${number}${'ab'.repeat(28)}`
      return { filename: `photos/2026/img-${number}.jpg`, size_bytes: start + i, content_hash }
    })
    counter.add(files)
    const rows = JSON.stringify(files).slice(1, -1)
    yield utf8(start === 0 ? rows : `,${rows}`)
  }
  yield utf8(`],${JSON.stringify(signedBundle(counter.end()!)).slice(1)}`)
}

const [count, ...names] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'svc-long-bundle-'))
const [whole, redacted] = [join(folder, 'whole.json'), join(folder, 'redacted.json')]
try {
  await pipeline(longBundle(Number(count)), createWriteStream(whole))
  if (names.length > 0) {
    const target = createWriteStream(redacted)
    const write = (text: string) => new Promise<void>((resolve) => target.write(text, () => resolve()))
    await redactBundle(createReadStream(whole), write, names[0] === 'no_names' ? {} : { filenames: names })
    await new Promise<void>((resolve) => target.end(resolve))
  }
  const given = { pinnedKeys: pinnedKeys([toHex(SIGNER.publicKey)]) }
  const bundle = createReadStream(names.length > 0 ? redacted : whole)
  const { failed, counted, facts, redacted: report } = await verified(bundle, given)
  console.log(JSON.stringify({ failed, files: report?.total ?? counted.files, key_pinned: facts.key_pinned.value }))
} finally {
  rmSync(folder, { recursive: true })
}
