# read by commands.txt
echo from a script\n
break twice
info breakpoints
nonsense
echo not reached\n
