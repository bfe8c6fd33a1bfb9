import { readdir } from 'node:fs/promises'
import { Argument, type Command } from 'commander'
import { Failure, UsageError } from '../errors.ts'
import { counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import { checkedSetting } from './config.ts'
import { knownLockers } from './known-lockers.ts'
import {
  chooseProfile,
  chosenProfile,
  DEFAULT_PROFILE,
  makeProfile,
  profileFolder,
  profileNames,
  removeProfile,
  requireProfile,
} from './profiles.ts'
import { readSettings, SETTING_NAMES, saveSetting } from './settings.ts'

interface GlobalOptions {
  profile?: string
}

export function add(program: Command, open: Open): void {
  const profile = program
    .command('profile')
    .description('profiles for several gateways and wallets, with separate settings, lockers, pinned keys and payments')
  const name = () => new Argument('<name>', 'which profile')
  // The current profile may be missing: these commands repair that.
  const openHome = (command: Command) => open(command, { profile: DEFAULT_PROFILE })
  profile
    .command('ls', { isDefault: true })
    .description('list them, as `svc profile` alone does')
    .action(async (_: object, command: Command) => list(await openHome(command), command.optsWithGlobals()))
  profile
    .command('new')
    .description('create a profile with the given settings (--gateway, --wallet, …)')
    .addArgument(name())
    .action(async (wanted: string, _: object, command: Command) => create(await openHome(command), wanted))
  profile
    .command('use')
    .description('use a profile in all later commands; --profile and SVC_PROFILE override it for one command')
    .addArgument(name())
    .action(async (wanted: string, _: object, command: Command) => use(await openHome(command), wanted))
  profile
    .command('rm')
    .description(
      'delete a profile with its lockers, pinned keys and payments; the lockers themselves do not change; asks first',
    )
    .addArgument(name())
    .action(async (wanted: string, _: object, command: Command) => remove(await openHome(command), wanted))
}

async function list({ output, folder: home, host }: Session, { profile: option }: GlobalOptions): Promise<void> {
  const current = await chosenProfile(home, host.env, option)
  const profiles = await Promise.all(
    (await profileNames(home)).map(async (name) => {
      const folder = profileFolder(home, name)
      const { gateway, wallet } = await readSettings(folder, {}, {})
      const lockers = (await knownLockers(folder)).length
      const in_use = name === current.name
      return { name, in_use, gateway: gateway?.value ?? null, wallet: wallet?.value ?? null, lockers, folder }
    }),
  )
  output.result({ profiles }, () => {
    const columns = [
      { title: 'PROFILE' },
      { title: 'GATEWAY' },
      { title: 'WALLET' },
      { title: 'LOCKERS', isRight: true },
      { title: '' },
    ]
    const rows = profiles.map(({ name, gateway, wallet, lockers, in_use }) => [
      name,
      shown(gateway ?? '-'),
      shown(wallet ?? '-'),
      String(lockers),
      in_use ? `in use (${current.from})` : '',
    ])
    return table(columns, rows)
  })
}

async function create({ output, folder: home, settings }: Session, name: string): Promise<void> {
  const given = SETTING_NAMES.flatMap((setting) => {
    const { value, from } = settings[setting] ?? {}
    return value !== undefined && from === `--${setting}` ? [[setting, checkedSetting(setting, value)] as const] : []
  })
  const folder = await makeProfile(home, name)
  for (const [setting, value] of given) await saveSetting(folder, setting, value)
  output.result({ name, folder, settings: Object.fromEntries(given) }, () => `profile ${name} is in ${folder}`)
  output.note(`\`svc profile use ${name}\` makes it the default; \`svc --profile ${name} …\` uses it for one command.`)
}

async function use({ output, folder: home, host }: Session, name: string): Promise<void> {
  const profile = { name, folder: profileFolder(home, name), from: 'the command' }
  await requireProfile(home, profile)
  await chooseProfile(home, name)
  output.result({ profile: name }, () => `commands now use the profile ${name}`)
  const { SVC_PROFILE } = host.env
  if (SVC_PROFILE && SVC_PROFILE !== name) output.warn(`SVC_PROFILE is set, so they use ${SVC_PROFILE} here`)
}

/** The entries of a profile that can be deleted; a wallet is money, so it is not among them. */
const FORGETTABLE = ['config.json', 'lockers', 'keys', 'journal']

async function remove(session: Session, name: string): Promise<void> {
  const { output, folder: home, host } = session
  if (name === DEFAULT_PROFILE) throw new UsageError('the default profile cannot be removed')
  const folder = profileFolder(home, name)
  await requireProfile(home, { name, folder, from: 'the command' })
  const others = (await readdir(folder)).filter((file) => !FORGETTABLE.includes(file))
  if (others.length > 0)
    throw new Failure(`${folder} contains other files: ${shown(others.join(', '))}`, 'move them away first')
  const lockers = counted((await knownLockers(folder)).length, 'locker')
  const isAgreed = await session.confirm(`Forget the profile ${name}, with ${lockers} and the records of its payments?`)
  if (!isAgreed) throw new Failure('nothing was removed')
  const chosen = await chosenProfile(home, {}, undefined)
  await removeProfile(home, name)
  if (chosen.name === name) await chooseProfile(home, DEFAULT_PROFILE)
  output.result({ profile: name, removed: true }, () => `the profile ${name} was removed`)
  if (host.env.SVC_PROFILE === name) output.warn('SVC_PROFILE still names it')
}
