// Where the log is stored, its identity, and how often it is signed.

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isKeyName } from '@svc/protocol/transparency/note'
import { type Policy, readPolicy } from '@svc/protocol/transparency/policy'
import type { Mode, SettingsReader } from '@svc/service/program/config'
import { developmentKeyFor, readOptionalKey } from '@svc/service/program/keys'
import { type BucketSettings, readBucketSettings } from '@svc/storage/s3-bucket/settings'
import { besideDatabase, type DatabaseLocation } from '../../db/settings.ts'

export interface TransparencyConfig {
  /** The name of the log, until the database has one. */
  origin: string
  /** Whether the admin has set it. */
  isOriginSet: boolean
  /** The folder of tiles and checkpoints, unless they are in a bucket. */
  folder: string
  /** Where a key is generated if the admin has set none: beside the log, because the log's folder may be served. */
  keyFile: string
  checkpointSeconds: number
  /** The policy with the witnesses of checkpoints; null for none. */
  policy: Policy | null
}

export interface TransparencySecrets {
  /** Signs checkpoints; null if the admin has set no key. */
  logSeed: Uint8Array | null
  /** Null if the log is in the folder. */
  logBucket: BucketSettings | null
}

interface Location {
  mode: Mode
  baseUrl: string
  databaseLocation: DatabaseLocation
}

export function readTransparencySettings(
  settings: SettingsReader,
  { mode, baseUrl, databaseLocation }: Location,
): [TransparencyConfig, TransparencySecrets] {
  const store = settings.text('LOG_STORE')
  const isBucket = /^s3(?:\+http)?:/.test(store)
  const folder = resolve((isBucket ? '' : store) || join(besideDatabase(databaseLocation), 'log'))
  const config: TransparencyConfig = {
    ...readOrigin(settings, baseUrl),
    folder,
    keyFile: join(dirname(folder), 'log.key'),
    checkpointSeconds: settings.integer('LOG_CHECKPOINT_SECONDS', { min: 1, max: 3600 }),
    policy: readPolicyFile(settings),
  }
  return [
    config,
    {
      logSeed: readLogSeed(settings, mode, databaseLocation),
      logBucket: isBucket ? readBucketSettings(settings, 'LOG_STORE') : null,
    },
  ]
}

/** Host and path of the log without a scheme, which is how logs are named. */
function readOrigin(settings: SettingsReader, baseUrl: string): Pick<TransparencyConfig, 'origin' | 'isOriginSet'> {
  const { host, pathname } = new URL(baseUrl)
  const given = settings.text('LOG_ORIGIN')
  if (given && !isKeyName(given))
    settings.problem('LOG_ORIGIN must be the name of the log without spaces, as in gateway.example/log')
  return { origin: given || `${host}${pathname.replace(/\/$/, '')}/log`, isOriginSet: given !== '' }
}

function readLogSeed(settings: SettingsReader, mode: Mode, { dataDir }: DatabaseLocation): Uint8Array | null {
  const isProduction = mode === 'production'
  const given = readOptionalKey(settings, 'LOG_KEY', isProduction)
  return given ?? (isProduction ? null : developmentKeyFor(settings, dataDir, 'log'))
}

function readPolicyFile(settings: SettingsReader): Policy | null {
  const file = settings.text('LOG_POLICY_FILE')
  if (!file) return null
  try {
    const policy = readPolicy(readFileSync(resolve(file), 'utf8'))
    if (typeof policy !== 'string') return policy
    settings.problem(`LOG_POLICY_FILE is not a policy: ${policy}`)
  } catch (error) {
    settings.problem(`LOG_POLICY_FILE cannot be read: ${(error as Error).message}`)
  }
  return null
}
