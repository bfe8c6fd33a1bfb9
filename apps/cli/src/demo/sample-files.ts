import { mkdir, open, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const FILES: Record<string, string> = {
  'contract.txt': 'The parties agree that the sum is 100.\n',
  'notes/meeting.md': '# Meeting\n\nEverybody agreed.\n',
  'notes/results.csv': 'sample,value\n1,0.52\n2,0.54\n',
}

export const TAMPERED = 'contract.txt'

export async function writeSamples(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(FILES)) {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
}

/** One character: 100 becomes 900. */
export async function tamper(folder: string): Promise<void> {
  const at = (FILES[TAMPERED] as string).indexOf('100')
  const file = await open(join(folder, TAMPERED), 'r+')
  await file.write('9', at)
  await file.close()
}
