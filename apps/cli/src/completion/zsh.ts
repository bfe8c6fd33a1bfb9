import type { Words } from './words.ts'

export function zshScript(words: readonly Words[]): string {
  const [program] = words
  const globals = (program?.options ?? []).map(optionText)
  const cases = words.map(({ path, commands, options }) => {
    const named = commands.map(({ name, description }) => quoted(`${name}:${plain(description)}`))
    const flags = [...options.map(optionText), ...(path ? globals : [])]
    return `    ${path ? `'${path}'` : "''"}) commands=(${named.join(' ')}); options=(${flags.join(' ')}) ;;`
  })
  return `#compdef svc
# svc completion zsh > "\${fpath[1]}/_svc"
_svc() {
  local candidate='' word
  local -a commands options
  for word in \${words[2,CURRENT-1]}; do
    case "\${candidate:+$candidate }$word" in
${words
  .filter(({ path }) => path)
  .map(({ path }) => `      '${path}') candidate='${path}' ;;`)
  .join('\n')}
    esac
  done
  case "$candidate" in
${cases.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then _describe -o 'option' options
  elif ((\${#commands})); then _describe 'command' commands
  else _files
  fi
}
_svc "$@"
`
}

function optionText({ flag, description }: Words['options'][number]): string {
  return quoted(`${flag}:${plain(description)}`)
}

function plain(text: string): string {
  return text.replaceAll(':', '\\:')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
