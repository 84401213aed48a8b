# Sourced: free_port sets $port to one of which it and its two successors are free on every address.
free_port() {
  local candidate
  for candidate in $(shuf -i 20000-32000 -n 50); do
    if ! ss -Hltn "( sport = :$candidate or sport = :$((candidate + 1)) or sport = :$((candidate + 2)) )" | grep -q .; then
      port=$candidate
      return 0
    fi
  done
  return 1
}
