// The values that the completion scripts ask for. Reads files of this machine only.

import { Argument, type Command } from 'commander'
import type { Open, Session } from '../session.ts'
import { knownLockers, named } from '../setup/known-lockers.ts'
import { DEFAULT_PROFILE, profileNames } from '../setup/profiles.ts'

export const COMPLETED = ['lockers', 'profiles'] as const
export type Completed = (typeof COMPLETED)[number]

export function add(program: Command, open: Open): void {
  program
    .command('complete', { hidden: true })
    .description('print values for the completion of a shell, one per line')
    .addArgument(new Argument('<what>', 'which').choices(COMPLETED))
    .action(async (what: Completed, _: object, command: Command) => {
      // The folder of the default profile has the others. The current one may be missing.
      const session = await open(command, what === 'profiles' ? { profile: DEFAULT_PROFILE } : {})
      const values = what === 'profiles' ? await profileNames(session.folder) : await lockers(session)
      for (const value of values) session.output.result({ value }, () => value)
    })
}

async function lockers({ folder, gateway }: Session): Promise<string[]> {
  const known = named(await knownLockers(folder, () => null), gateway)
  return known.map(({ name, locker_id }) => name ?? locker_id)
}
