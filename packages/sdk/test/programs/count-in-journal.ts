// For tests: increments a counter in a journal the given number of times, while other processes do the same.

import { fileJournal } from '../../src/node/file-journal.ts'

const [folder = '', times] = process.argv.slice(2)
const journal = fileJournal(folder)
for (let done = 0; done < Number(times); ) {
  const count = await journal.get('count')
  if (await journal.put('count', String(Number(count ?? 0) + 1), count)) done++
}
