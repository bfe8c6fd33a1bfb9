import { canonicalJson } from '@svc/protocol/canonical'
import { compareSeconds, type Row } from './row.ts'

const ROWS = 20_000

/** Rows like the ones in manifests. */
export function canonicalRows(): Row[] {
  const manifest = Array.from({ length: ROWS }, (_, i) => ({
    filename: `folder/${i}/résumé-${i}.pdf`,
    size_bytes: String(i * 1021),
    content_hash: 'ab'.repeat(32),
  }))
  const megabytes = Buffer.byteLength(JSON.stringify(manifest)) / 1e6
  const { ours, theirs } = compareSeconds(
    9,
    () => canonicalJson(manifest),
    () => JSON.stringify(manifest),
  )
  return [
    {
      what: 'canonical JSON',
      measured: `${(megabytes / ours).toFixed(0)} MB/s`,
      against: `JSON.stringify: ${(megabytes / theirs).toFixed(0)} MB/s`,
      ratio: theirs / ours,
      goal: { atLeast: 0.5 },
    },
  ]
}
