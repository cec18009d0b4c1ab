% A column of a table that sarrus_read has read, by its name: sarrus_column(r, "q.theta").
function x = sarrus_column(r, name)
  k = find(strcmp(r.names, name), 1);
  if isempty(k)
    error("sarrus_column: there is no column '%s'; there are: %s", name, strjoin(r.names, ", "));
  end
  x = r.table(:, k);
end
