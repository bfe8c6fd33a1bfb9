import type { Command } from 'commander'
import { counted, durationText } from '../output/quantities.ts'
import { pairs } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import { knownLockers } from './known-lockers.ts'
import { keyHexes, readPins } from './pinned.ts'
import { DEFAULT_PROFILE } from './profiles.ts'

export function add(program: Command, open: Open): void {
  program
    .command('whoami')
    .description('show your wallets and the keys that this machine trusts; makes no request')
    .action(async (_: object, command: Command) => whoami(await open(command)))
}

async function whoami(session: Session): Promise<void> {
  const { output, profile, folder, gateway, host } = session
  const { recipientOf, walletIdentity } = await import('@svc/sdk/encryption')
  const wallets = await Promise.all(
    (await session.keys()).map(async ({ address, namespace, from, signer }) => {
      return { address, namespace, from, recipient: recipientOf(await walletIdentity(signer)) }
    }),
  )
  const pins = await readPins(folder, gateway)
  const lockers = (await knownLockers(folder)).filter((locker) => locker.gateway === gateway).length
  const pinned = pins && { keys: keyHexes(pins.read), pinned_at: pins.pinned_at }
  const age = pins && durationText((host.now() - Date.parse(pins.pinned_at)) / 1000)
  output.result({ profile: profile.name, wallets, gateway, pinned, lockers, folder }, () =>
    pairs([
      ...(profile.name === DEFAULT_PROFILE ? [] : [['profile', `${profile.name} (${profile.from})`] as const]),
      ...wallets.flatMap(({ address, from, recipient }): [string, string][] => [
        ['wallet', `${address} (${from})`],
        ['encrypts for', recipient],
      ]),
      ...(wallets.length === 0 ? [['wallet', 'none: --wallet FILE, SVC_WALLET or SVC_EVM_KEY'] as const] : []),
      ['gateway', gateway],
      [
        'its keys',
        age === null ? 'not pinned: `svc keys pin`' : `${counted(pinned?.keys.length ?? 0, 'key')} pinned ${age} ago`,
      ],
      ['lockers', String(lockers)],
      ['folder', folder],
    ]),
  )
}
