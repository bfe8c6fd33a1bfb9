import type { Command } from 'commander'
import type { Open, Session } from '../session.ts'
import { type DecryptOptions, decryption, withDecryptOptions } from './encryption.ts'
import { writeOut } from './write-out.ts'

interface CatOptions extends DecryptOptions {
  public?: boolean
}

export function add(program: Command, open: Open): void {
  const reading = program
    .command('cat')
    .description('write files of the locker to standard output, and check their hashes')
    .argument('<name...>', 'files of the locker')
    .option('--public', 'read without signing, through the public link; the default without a wallet')
  withDecryptOptions(reading).action(async (names: string[], options: CatOptions, command: Command) =>
    cat(await open(command), names, options),
  )
}

async function cat(session: Session, names: readonly string[], options: CatOptions): Promise<void> {
  const locker = await session.locker()
  const isMember = !options.public && (await session.keys()).length > 0
  const decrypt = await decryption(session, locker, options)
  for (const name of names) await writeOut(session, locker, name, { isMember, decrypt })
}
