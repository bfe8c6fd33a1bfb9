import type { Words } from './words.ts'

export function fishScript(words: readonly Words[]): string {
  const lines = words.flatMap(({ path, commands, options }) => {
    const condition = path ? `__svc_at ${path}` : commands.length > 0 ? '__svc_at' : ''
    return [
      ...commands.map(({ name, description }) => line(condition, `-f -a ${name}`, description)),
      ...options.map(({ flag, description, takesValue }) =>
        line(path ? condition : '', `-l ${flag.replace(/^--/, '')}${takesValue ? ' -r' : ''}`, description),
      ),
    ]
  })
  return `# svc completion fish > ~/.config/fish/completions/svc.fish
function __svc_at --description 'whether these commands were typed, and no other'
  set -l typed (commandline -opc | string match -v -- '-*')[2..]
  if test (count $argv) -eq 0
    test (count $typed) -eq 0
    return
  end
  test (count $typed) -ge (count $argv); and test "$typed[1..$(count $argv)]" = "$argv"
end
${lines.join('\n')}
`
}

function line(condition: string, what: string, description: string): string {
  const when = condition ? `-n ${quoted(condition)} ` : ''
  return `complete -c svc ${when}${what} -d ${quoted(description)}`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
