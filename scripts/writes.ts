// Who may write to a database past `database.commit`, or open one. The types refuse queries that write; this finds what
// gets around them. Of `npm run check`.

import { globSync, readFileSync } from 'node:fs'

const WRITING = [
  /\bnew Kysely\b|\b(createCommit|openSqliteFile)\(/g,
  /\bas (unknown as )?(Kysely|Transaction)\b/g,
  /\.transaction\(/g,
  // Raw SQL, unless it is executed in the transaction of a commit.
  /\bsql(<[^`]*>)?`\s*(insert|update|delete|create|drop|alter|truncate)\s[^`]*`(?!\.execute\(tx\))/gi,
]

const ALLOWED = [
  'packages/database/', // the way to write
  'packages/devnet/', // for tests
  'apps/web/', // IndexedDB
  'apps/gateway/src/db/baseline.ts',
  'apps/gateway/src/db/migrations.ts',
  'apps/gateway/src/db/move/', // into a database that nobody uses yet
  'apps/gateway/src/attestations/snapshots/chunk-store.ts', // in a thread, by a connection of its own
  'apps/gateway/src/attestations/snapshots/read-files.ts', // reads, in a thread
  'apps/agent/src/db/migrations.ts',
  'apps/witness/src/db/migrations.ts',
]

const found = globSync('{apps,packages}/*/src/**/*.{ts,tsx}').flatMap((file) => {
  const text = readFileSync(file, 'utf8')
  const hits = WRITING.flatMap((pattern) => [...text.matchAll(pattern)])
  return hits.map(({ 0: hit, index }) => ({ file, hit, line: text.slice(0, index).split('\n').length }))
})
const problems = [
  ...found
    .filter(({ file }) => !ALLOWED.some((place) => file.startsWith(place)))
    .map(({ file, line, hit }) => `${file}:${line}: "${hit.split('\n', 1)[0]}" writes past database.commit`),
  ...ALLOWED.filter((place) => !found.some(({ file }) => file.startsWith(place))).map(
    (place) => `scripts/writes.ts: nothing in ${place} needs to be allowed`,
  ),
]
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)
