// Who may open a database, or commit while it is behind. `database.db` refuses by itself to write; this finds what it
// does not see: other connections, and commits that the gate lets through. Of `npm run check`.

import { globSync, readFileSync } from 'node:fs'

interface Rule {
  what: string
  patterns: RegExp[]
  /** Files and folders, with the reason. */
  allowed: Record<string, string>
}

/** An import is where it cannot be called anything else. */
const IMPORTS_OF_OPENERS = [
  /\bimport\s+(?!type\b)[^;'"]*?from\s+'(?:node:sqlite|pg|pg-boss|better-sqlite3|@svc\/database\/(?:postgres|reader|sqlite|sqlite-file))'/g,
  /\bimport\s+(?!type\b)[^;'"]*?(?<!type\s+)(?:\b(?:Kysely|\w+Dialect|\w+Driver)\b|\*)[^;'"]*?from\s+'kysely'/g,
  /\bimport\s+(?!type\b)[^;'"]*?\bcreateCommit\b[^;'"]*?from\s+'@svc\/database\/commit'/g,
  /\b(?:import|require)\(\s*['"`](?:node:sqlite|pg|pg-boss|kysely|@svc\/database\/[\w-]+)['"`]\s*\)/g,
]

const RULES: Rule[] = [
  {
    what: 'opens a database',
    patterns: IMPORTS_OF_OPENERS,
    allowed: {
      'packages/database/': 'the way to write',
      'packages/devnet/': 'for tests',
      'packages/database/src/queue/pg-boss-engine.ts':
        'pg-boss creates queues and takes jobs by connections of its own; a job begins no work while behind',
      'apps/gateway/src/db/move/': 'into a database that nobody uses yet',
      'apps/gateway/src/evidence/snapshots/chunk-store.ts':
        'in a thread; chunks mean nothing until a commit names them',
      'apps/gateway/src/evidence/snapshots/read-files.ts': 'reads, in a thread',
    },
  },
  {
    what: 'has a transaction of its own, or passes one thing off as another',
    patterns: [
      /\.(?:transaction|startTransaction)\(/g,
      /\bas\s+(?:unknown\s+as\s+|never\s+as\s+)?(?:Kysely|Transaction|\w*Tx)\b/g,
    ],
    allowed: {
      'packages/database/': 'the way to write',
      'packages/devnet/': 'for tests',
      'apps/web/': 'IndexedDB',
      'apps/gateway/src/db/move/': 'into a database that nobody uses yet',
    },
  },
  {
    what: 'commits while the database may be behind',
    patterns: [/\bwhileBehind\b(?!\??: 'served')(?! (?:=|!)== 'served')/g, /\bWHILE_(?:BEHIND|UNKNOWN)\b/g],
    allowed: {
      'packages/database/src/commit.ts': 'the way to write',
      'packages/service/src/guard/nonces.ts': 'signed reads use up nonces',
      'packages/service/src/guard/rate-limiter.ts': 'those who only read are limited, too',
      'packages/database/src/queue/engine.ts': 'the constant, and why',
      'packages/database/src/queue/pg-boss-engine.ts': 'gives back a job that waits for the database to be current',
      'packages/database/src/queue/sqlite-engine.ts': 'who has which job; its work commits by itself',
      'packages/database/src/queue/schedules.ts': 'when a job is due next; its work commits by itself',
      'apps/gateway/src/keys/record-signing-key.ts': 'at the first start nothing can be compared yet',
      'apps/gateway/src/publication/log/identity.ts': 'the name of a log that has signed nothing',
      'apps/gateway/src/continuity/replicas/replica.ts': 'how replicas learn that the database is behind',
      'apps/gateway/src/bin/with-operations.ts': 'whether a command begins to compare',
      'apps/gateway/src/bin/journal.ts': 'shows files',
      'apps/gateway/src/bin/replay.ts': 'heals the database',
    },
  },
]

/** What may be written by those who open a database in a running gateway: word for word. */
const WRITTEN: Record<string, string[]> = {
  'apps/gateway/src/evidence/snapshots/chunk-store.ts': ['insert into snapshot_chunks'],
  'apps/gateway/src/evidence/snapshots/read-files.ts': [],
  'packages/database/src/queue/pg-boss-engine.ts': [],
}
const WRITES =
  /\b(?:insert\s+(?:or\s+\w+\s+)?into|replace\s+into|merge\s+into|delete\s+from|truncate|drop\s+\w+|alter\s+\w+|create\s+\w+)\s+\w+|\bupdate\s+\w+\s+set\b|\.(?:insertInto|deleteFrom|updateTable|replaceInto|mergeInto)\(\s*'\w+'/gi

export interface SourceFile {
  file: string
  text: string
}

/** What is wrong in these sources; with `isAll`, also what the lists allow in vain. */
export function findWrites(sources: readonly SourceFile[], { isAll = false } = {}): string[] {
  return [
    ...RULES.flatMap((rule) => {
      const found = sources.flatMap((source) => hitsOf(source, rule.patterns))
      const places = Object.keys(rule.allowed)
      const vain = places.filter((place) => !found.some(({ file }) => file.startsWith(place)))
      return [
        ...found
          .filter(({ file }) => !places.some((place) => file.startsWith(place)))
          .map(({ file, line, hit }) => `${file}:${line}: "${hit}" ${rule.what}`),
        ...(isAll ? vain.map((place) => `scripts/writes.ts: nothing in ${place} ${rule.what}`) : []),
      ]
    }),
    ...sources.flatMap((source) => {
      const allowed = WRITTEN[source.file]
      return hitsOf(source, [WRITES])
        .filter(({ hit }) => allowed && !allowed.includes(hit))
        .map(({ file, line, hit }) => `${file}:${line}: "${hit}" writes past database.commit`)
    }),
  ]
}

function hitsOf({ file, text }: SourceFile, patterns: readonly RegExp[]) {
  const code = text.replace(/(?<=^|\s)\/\/[^\n]*|^\s*\/\*[\s\S]*?\*\//gm, (comment) => comment.replace(/[^\n]/g, ' '))
  return patterns
    .flatMap((pattern) => [...code.matchAll(pattern)])
    .map(({ 0: hit, index }) => ({
      file,
      hit: hit.replace(/\s+/g, ' '),
      line: code.slice(0, index).split('\n').length,
    }))
}

if (import.meta.main) {
  const files = globSync('{apps,packages}/*/src/**/*.{ts,tsx}')
  const problems = findWrites(
    files.map((file) => ({ file, text: readFileSync(file, 'utf8') })),
    { isAll: true },
  )
  for (const problem of problems) console.error(problem)
  process.exit(problems.length > 0 ? 1 : 0)
}
