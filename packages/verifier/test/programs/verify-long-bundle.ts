// For tests: verifies a bundle of this many files from disk and prints what it took: `node verify-long-bundle.ts 1000000`.

import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { toHex, utf8 } from '@svc/protocol/bytes'
import { createFileCounter } from '../../src/file-list.ts'
import { SIGNER, signedBundle } from '../bundles.ts'
import { pinnedKeys, verified } from '../pack.ts'

const CHUNK_FILES = 500

/** The file list comes first, and then the statement about it. */
export function* longBundle(count: number): Generator<Uint8Array> {
  const counter = createFileCounter()
  yield utf8('{"files":[')
  for (let start = 0; start < count; start += CHUNK_FILES) {
    const files = Array.from({ length: Math.min(CHUNK_FILES, count - start) }, (_, i) => {
      const number = String(start + i).padStart(8, '0')
      return {
        filename: `photos/2026/img-${number}.jpg`,
        size_bytes: start + i,
        content_hash: `${number}${'ab'.repeat(28)}`,
      }
    })
    counter.add(files)
    const rows = JSON.stringify(files).slice(1, -1)
    yield utf8(start === 0 ? rows : `,${rows}`)
  }
  yield utf8(`],${JSON.stringify(signedBundle(counter.end()!)).slice(1)}`)
}

export async function measure(count: number) {
  const file = join(tmpdir(), `svc-long-bundle-${process.pid}.json`)
  try {
    await pipeline(longBundle(count), createWriteStream(file))
    const start = performance.now()
    const pinned = pinnedKeys([toHex(SIGNER.publicKey)])
    const { failed, counted, facts } = await verified(createReadStream(file), { pinnedKeys: pinned })
    return {
      failed,
      files: counted.files,
      key_pinned: facts.key_pinned.value,
      seconds: Number(((performance.now() - start) / 1000).toFixed(1)),
      peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024),
    }
  } finally {
    rmSync(file, { force: true })
  }
}

if (import.meta.main) console.log(JSON.stringify(await measure(Number(process.argv[2]))))
