// For tests: the settings of one provider, and what is wrong with them.

import { SettingsReader, type Variables } from '@svc/http-service/config'

export function settingsTester<Settings>(readSettings: (settings: SettingsReader) => Settings) {
  function read(variables: Variables): Settings {
    const settings = new SettingsReader(variables)
    const read = readSettings(settings)
    settings.done()
    return read
  }

  /** All of it, empty where there is nothing. */
  function problemsOf(variables: Variables): string {
    try {
      read(variables)
    } catch (error) {
      return (error as Error).message
    }
    return ''
  }

  return { read, problemsOf }
}
