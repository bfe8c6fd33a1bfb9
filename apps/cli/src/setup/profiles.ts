// Profiles. Each has a folder like that of `svc` itself, so that wallets, lockers, pinned keys and payments of one are
// never used with another. The folder of `svc` is the profile `default`.

import { access, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../errors.ts'
import type { Environment } from '../host.ts'
import { configFolder, openFolder, readJson, writeJson } from './folder.ts'

export const DEFAULT_PROFILE = 'default'

export interface Profile {
  name: string
  folder: string
  /** The source, as text for users: `--profile`, `SVC_PROFILE`, `svc profile use`, or `default`. */
  from: string
}

/** The profile that commands use: by option, then by variable, then as `svc profile use` has set it. */
export async function chosenProfile(home: string, env: Environment, option: string | undefined): Promise<Profile> {
  const [name, from] = await choose(home, env, option)
  return { name, folder: profileFolder(home, name), from }
}

async function choose(
  home: string,
  { SVC_PROFILE }: Environment,
  option: string | undefined,
): Promise<[name: string, from: string]> {
  if (option !== undefined) return [option, '--profile']
  if (SVC_PROFILE) return [SVC_PROFILE, 'SVC_PROFILE']
  const choice = await readJson<{ profile?: unknown }>(choiceFile(home))
  if (choice === null) return [DEFAULT_PROFILE, 'default']
  return [String(choice.profile), '`svc profile use`']
}

/** The profile that commands use; throws if it does not exist. */
export async function namedProfile(env: Environment, option: string | undefined): Promise<Profile> {
  const home = configFolder(env)
  const profile = await chosenProfile(home, env, option)
  await requireProfile(home, profile)
  return profile
}

/** A profile in the given folder. */
export function profileAt(folder: string): Profile {
  return { name: folder, folder, from: 'its folder' }
}

/** Throws if the profile is missing: a fallback to another profile might pay with another wallet. */
export async function requireProfile(home: string, { name, folder, from }: Profile): Promise<void> {
  if (name === DEFAULT_PROFILE || (await exists(folder))) return
  const names = (await profileNames(home)).join(', ')
  throw new UsageError(
    `the profile ${JSON.stringify(name)} (from ${from}) does not exist`,
    `existing profiles: ${names}; \`svc profile new ${name}\` creates it, \`svc profile use NAME\` chooses another`,
  )
}

export async function chooseProfile(home: string, name: string): Promise<void> {
  if (name === DEFAULT_PROFILE) await rm(choiceFile(home), { force: true })
  else await writeJson(choiceFile(home), { profile: name })
}

/** The default profile first, then by name. */
export async function profileNames(home: string): Promise<string[]> {
  const names = await readdir(join(home, 'profiles')).catch(() => [])
  return [DEFAULT_PROFILE, ...names.filter(isProfileName).sort()]
}

/** Returns its folder. */
export async function makeProfile(home: string, name: string): Promise<string> {
  const folder = profileFolder(home, name)
  if (name === DEFAULT_PROFILE || (await exists(folder)))
    throw new UsageError(`the profile ${name} already exists`, `\`svc --profile ${name} config\` shows it`)
  await openFolder(home)
  await openFolder(folder)
  return folder
}

export async function removeProfile(home: string, name: string): Promise<void> {
  await rm(profileFolder(home, name), { recursive: true })
}

export function profileFolder(home: string, name: string): string {
  if (!isProfileName(name))
    throw new UsageError(
      `${JSON.stringify(name)} cannot be the name of a profile`,
      'at most 32 letters, digits, dots, dashes and underscores; it begins with a letter or a digit',
    )
  return name === DEFAULT_PROFILE ? home : join(home, 'profiles', name)
}

function isProfileName(text: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,31}$/i.test(text)
}

function choiceFile(home: string): string {
  return join(home, 'profile.json')
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
