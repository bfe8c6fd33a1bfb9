// A secret among the settings: by value, or in the file that a second variable names.

import { readFileSync } from 'node:fs'
import type { SettingsReader } from './config.ts'

export interface GivenSecret {
  /** Null where the file cannot be read, which has been told. */
  text: string | null
  /** Which of the two it is from. */
  variable: string
}

/** Null where neither is set. What it is stands in no problem. */
export function readSecret(settings: SettingsReader, variable: string): GivenSecret | null {
  const text = settings.text(variable)
  const fileVariable = `${variable}_FILE`
  const file = settings.text(fileVariable)
  if (text && file) settings.problem(`${variable} and ${fileVariable} are both set: leave one of them out`)
  if (text) return { text, variable }
  return file ? { text: readSecretFile(settings, fileVariable, file), variable: fileVariable } : null
}

function readSecretFile(settings: SettingsReader, variable: string, file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    settings.problem(`${variable} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
    return null
  }
}
