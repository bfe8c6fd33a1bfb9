// Notes as many statements as it is told, each as often as it takes, and says how often that failed.

import { openLogbook } from '../../../src/continuity/logbook.ts'

const [folder = '', count = '0'] = process.argv.slice(2)
const logbook = await openLogbook(folder, 'history')
let failures = 0
for (let sequence = 1; sequence <= Number(count); ) {
  const entry = { kind: 'statement', proofId: 'a'.repeat(32), sequence, digest: 'b'.repeat(64) } as const
  await logbook.append([entry], sequence).then(
    () => sequence++,
    () => failures++,
  )
}
await logbook.close()
console.log(failures)
