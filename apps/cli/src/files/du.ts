import type { Command } from 'commander'
import { bytesText, counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import { matching } from './matching.ts'

interface Total {
  /** A folder ends with a slash. */
  name: string
  files: number
  size_bytes: number
}

export function add(program: Command, open: Open): void {
  program
    .command('du')
    .description('the sizes of files and folders of the locker')
    .argument('[name...]', 'files and folders; by default everything at the top level')
    .action(async (names: string[], _: object, command: Command) => du(await open(command), names))
}

async function du(session: Session, names: readonly string[]): Promise<void> {
  const { output, host } = session
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const totals = new Map<string, Total>()
  for await (const { name: given, entry } of matching(client.files(locker, { signal: host.signal }), names)) {
    const { filename, size_bytes } = entry
    const name = given === '' ? topOf(filename) : given
    const total = totals.get(name) ?? { name, files: 0, size_bytes: 0 }
    totals.set(name, { name, files: total.files + 1, size_bytes: total.size_bytes + (size_bytes ?? 0) })
  }
  const largestFirst = [...totals.values()].sort((a, b) => b.size_bytes - a.size_bytes)
  if (output.isJson) for (const total of largestFirst) output.result(total, () => '')
  else if (largestFirst.length > 0) output.result(largestFirst, () => totalsText(largestFirst))
  const sum = (field: 'files' | 'size_bytes') => largestFirst.reduce((all, total) => all + total[field], 0)
  output.note(`${counted(sum('files'), 'file')}, ${bytesText(sum('size_bytes'))}`)
}

function topOf(filename: string): string {
  const slash = filename.indexOf('/')
  return slash === -1 ? filename : filename.slice(0, slash + 1)
}

function totalsText(totals: readonly Total[]): string {
  const columns = [{ title: 'SIZE', isRight: true }, { title: 'FILES', isRight: true }, { title: 'NAME' }]
  return table(
    columns,
    totals.map(({ name, files, size_bytes }) => [bytesText(size_bytes), files.toLocaleString('en'), shown(name)]),
  )
}
