// For tests: redacts a bundle of this many files from disk to disk, verifies the result, and prints what it took:
// `node redact-long-bundle.ts 1000000 no_names`, or with names of files.

import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { redactBundle } from '../../src/redact-bundle.ts'
import { verified } from '../pack.ts'
import { longBundle } from './verify-long-bundle.ts'

export async function measure(count: number, filenames: readonly string[] | null) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-redact-'))
  const [whole, redacted] = [join(folder, 'whole.json'), join(folder, 'redacted.json')]
  try {
    await pipeline(longBundle(count), createWriteStream(whole))
    const start = performance.now()
    const target = createWriteStream(redacted)
    const write = (text: string) => new Promise<void>((resolve) => target.write(text, () => resolve()))
    const { refused } = await redactBundle(createReadStream(whole), write, filenames ? { filenames } : {})
    await new Promise<void>((resolve) => target.end(resolve))
    const { failed, redacted: report } = await verified(createReadStream(redacted))
    return {
      refused,
      failed,
      total: report?.total,
      bytes: statSync(redacted).size,
      seconds: Number(((performance.now() - start) / 1000).toFixed(1)),
      peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (import.meta.main) {
  const [count, ...names] = process.argv.slice(2)
  console.log(JSON.stringify(await measure(Number(count), names[0] === 'no_names' ? null : names)))
}
