// Writes the given number of entries, retrying each until it succeeds, and prints how many attempts failed. With a
// third argument, it first tries to write many at once.

import { openJournal } from '../../src/journal/journal.ts'
import { createSealing } from '../../src/journal/sealing.ts'

const [folder = '', count = '0', isTogether] = process.argv.slice(2)
const journal = await openJournal({ folder, sealing: createSealing(Buffer.alloc(32, 1)), history: 'a history' })
let failures = 0
// They do not fit on the disk.
if (isTogether) await journal.append(Array.from({ length: 60 }, (_, i) => `together ${i + 1}`)).catch(() => failures++)
for (let number = 1; number <= Number(count); ) {
  await journal.append([`entry ${number}`]).then(
    () => number++,
    () => failures++,
  )
}
await journal.close()
console.log(failures)
