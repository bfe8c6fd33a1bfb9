// Opens a journal, writes an entry, and waits to be killed.

import { openJournal } from '../../src/journal/journal.ts'
import { createSealing } from '../../src/journal/sealing.ts'

const [folder = '', history = ''] = process.argv.slice(2)
const journal = await openJournal({ folder, sealing: createSealing(Buffer.alloc(32, 1)), history })
await journal.append(['an entry'])
console.log('written')
setInterval(() => {}, 1000)
