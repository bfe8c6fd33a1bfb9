import { readFileSync } from 'node:fs'
import type { SettingsReader } from '@svc/http-service/config'

export interface MongodbSettings {
  /** With the credentials in it: a secret. */
  url: string
  database: string
  bucket: string
}

const DEFAULT_DATABASE = 'svc'
const DEFAULT_BUCKET = 'objects'
/** User and password cannot be told from the rest where `/`, `?`, `#`, `@` or `:` stand in them as they are. */
const URL_FORM = /^mongodb(\+srv)?:\/\/([^/?#@:]+(:[^/?#@:]*)?@)?[^/?#@]+(\/[^/?#@:]*(\?[^#]*)?)?$/
const NAME_FORM = /^[A-Za-z0-9_-]{1,60}$/

/** Null when nothing of it is set. */
export function readMongodbSettings(settings: SettingsReader): MongodbSettings | null {
  const url = readUrl(settings)
  const database = readName(settings, 'MONGODB_DATABASE', DEFAULT_DATABASE)
  const bucket = readName(settings, 'MONGODB_BUCKET', DEFAULT_BUCKET)
  if (url !== null) return { url, database, bucket }
  if (database !== DEFAULT_DATABASE || bucket !== DEFAULT_BUCKET) {
    settings.problem('MONGODB_DATABASE and MONGODB_BUCKET need MONGODB_URL or MONGODB_URL_FILE: set one of them')
  }
  return null
}

/** Never told in a problem: it holds a password. */
function readUrl(settings: SettingsReader): string | null {
  const text = settings.text('MONGODB_URL')
  const file = settings.text('MONGODB_URL_FILE')
  if (!text && !file) return null
  if (text && file) settings.problem('MONGODB_URL and MONGODB_URL_FILE are both set: leave one of them out')
  const url = text || readUrlFile(settings, file)
  if (url !== null && !URL_FORM.test(url)) {
    settings.problem(
      `${text ? 'MONGODB_URL' : 'MONGODB_URL_FILE'} must be mongodb://user:password@host/ or mongodb+srv://…, ` +
        'with special characters of user and password percent-encoded',
    )
  }
  return url ?? ''
}

function readUrlFile(settings: SettingsReader, file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    settings.problem(`MONGODB_URL_FILE cannot be read: ${(error as NodeJS.ErrnoException).code}`)
    return null
  }
}

function readName(settings: SettingsReader, variable: string, fallback: string): string {
  const name = settings.text(variable, fallback)
  if (!NAME_FORM.test(name)) settings.problem(`${variable} must be 1 to 60 letters, digits, _ or -, not "${name}"`)
  return name
}
